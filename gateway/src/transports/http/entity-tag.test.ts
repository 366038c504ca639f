/** Entity tags of results. */
import { describe, expect, it } from '@jest/globals';
import { isCurrent, toEntityTag } from './entity-tag.ts';

const tagOf = (text: string, { method = 'GET', cacheControl = 'public, max-age=5' } = {}) => {
  const bytes = Buffer.from(`${text} and what the buffer had before`);
  return toEntityTag({ method }, { 'cache-control': cacheControl }, { bytes, length: text.length });
};

describe('toEntityTag', () => {
  it('depends on the bytes of the result alone', () => {
    expect(tagOf('{"data":1}')).toMatch(/^W\/"[\w-]{22}"$/);
    expect(tagOf('{"data":1}', { method: 'HEAD', cacheControl: 'private, max-age=9' })).toBe(tagOf('{"data":1}'));
    expect(tagOf('{"data":2}')).not.toBe(tagOf('{"data":1}'));
  });

  it('is undefined for what no cache may keep', () => {
    expect([tagOf('{}', { cacheControl: 'no-store' }), tagOf('{}', { method: 'POST' })]).toEqual([undefined, undefined]);
  });
});

describe('isCurrent', () => {
  const tag = 'W/"abc"';
  it.each([
    ['W/"abc"', true],
    ['"abc"', true],
    ['"x", W/"y",  "abc"', true],
    ['*', true],
    ['"ab"', false],
    ['"W/abc"', false],
    ['abc', false],
    ['', false],
    [undefined, false],
  ])('compares %s weakly', (known, expected) => {
    expect(isCurrent({ headers: { 'if-none-match': known } }, tag)).toBe(expected);
  });
});
