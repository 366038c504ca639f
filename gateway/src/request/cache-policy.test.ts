import { describe, expect, it } from '@jest/globals';
import { readCachePolicy, toStrictest, writeCachePolicy } from './cache-policy.ts';

/** Returns what several responses become together. */
const merge = (...values: string[]) =>
  writeCachePolicy(values.map((cacheControl) => readCachePolicy({ cacheControl })).reduce(toStrictest));

describe('Cache-Control', () => {
  it.each([
    ['max-age=60', 'public, max-age=60'],
    ['public, max-age=60, s-maxage=600', 'public, max-age=60, s-maxage=600'],
    ['s-maxage=5', 'public, max-age=0, s-maxage=5'],
    ['max-age=60, s-maxage=0', 'private, max-age=60'],
    ['MAX-AGE = "60", Private', 'private, max-age=60'],
    ['private="set-cookie, x-a", max-age=60', 'private, max-age=60'],
    ['private, s-maxage=60', 'no-store'],
    ['no-cache, max-age=60', 'no-store'],
    ['no-cache="set-cookie", max-age=60', 'no-store'],
    ['max-age=60, no-store', 'no-store'],
    ['public', 'no-store'],
    ['', 'no-store'],
    ['immutable, x=y, ,=, must-revalidate', 'no-store'],
    ['max-age=60, max-age=5', 'public, max-age=5'],
    ['max-age=-1', 'no-store'],
    ['max-age=1.5', 'no-store'],
    ['max-age=1e9', 'no-store'],
    ['max-age', 'no-store'],
    ['x="max-age=60"', 'no-store'],
    ['x-max-age=60', 'no-store'],
    ['max-age=99999999999999999999', 'public, max-age=31536000'],
  ])('%j of one response becomes %j', (value, written) => {
    expect(merge(value)).toBe(written);
  });

  it.each([
    [['max-age=60', 'max-age=10', 'max-age=30'], 'public, max-age=10'],
    [['max-age=60, s-maxage=600', 'max-age=90'], 'public, max-age=60, s-maxage=90'],
    [['max-age=60', 'private, max-age=90'], 'private, max-age=60'],
    [['max-age=60', 'no-store'], 'no-store'],
    [['public', 'max-age=60'], 'no-store'],
  ])('%j become the strictest: %j', (values, written) => {
    expect(merge(...values)).toBe(written);
    expect(merge(...values.toReversed())).toBe(written);
  });

  it.each([
    ['', 30],
    ['public', 30],
    ['max-age=5', 5],
    ['max-age=soon', 0],
    ['s-maxage=5', 0],
    ['no-store', 0],
  ])('takes the fallback for the max-age of %j only without one: %i', (cacheControl, maxAge) => {
    expect(readCachePolicy({ cacheControl, fallbackSeconds: 30 }).maxAge).toBe(maxAge);
  });

  it('subtracts the age of a response that comes from a cache', () => {
    const read = (age: string) => writeCachePolicy(readCachePolicy({ cacheControl: 'max-age=60', age }));
    expect(['0', '20', '60', '70', '-5', 'x', '1, 2'].map(read)).toEqual([
      'public, max-age=60',
      'public, max-age=40',
      ...Array<string>(5).fill('no-store'),
    ]);
  });

  it('takes a response that varies by everything as one that may not be cached', () => {
    expect(writeCachePolicy(readCachePolicy({ cacheControl: 'max-age=60', vary: 'accept, *' }))).toBe('no-store');
  });

  it('reads hostile values in linear time', () => {
    const before = performance.now();
    for (const value of ['"'.repeat(8000), 'a='.repeat(4000), ' '.repeat(8000), 'a '.repeat(4000)])
      readCachePolicy({ cacheControl: value });
    expect(performance.now() - before).toBeLessThan(500);
  });
});
