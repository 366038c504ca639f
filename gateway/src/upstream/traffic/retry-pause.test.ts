import { describe, expect, it } from '@jest/globals';
import { toRetryPause } from './retry-pause.ts';

const NOW = Date.parse('Sat, 28 Nov 2026 12:00:00 GMT');
const pauseFor = (value: string | undefined, { leftMs = 10_000, random = 0 } = {}) =>
  toRetryPause(value, { leftMs, now: () => NOW, random: () => random });

describe('toRetryPause', () => {
  it.each([
    ['seconds', '2', 2000],
    ['no seconds', '0', 0],
    ['a date', 'Sat, 28 Nov 2026 12:00:03 GMT', 3000],
    ['a date that has passed', 'Thu, 01 Jan 1970 00:00:00 GMT', 0],
  ])('keeps to a Retry-After of %s', (_, value, pauseMs) => {
    expect(pauseFor(value)).toBe(pauseMs);
  });

  it.each([
    ...[undefined, '', '-5', '+5', '1.5', '1e308', '0x10', 'Infinity', 'soon', '1, 5', '٣'],
    ...['2026-11-28', 'Sat, 99 Foo 2026 12:00:00 GMT', 'Saturday, 28-Nov-26 12:00:03 GMT', '🕛'],
  ])('takes a short pause for the Retry-After %p, which is neither seconds nor a date', (value) => {
    expect(pauseFor(value)).toBe(50);
  });

  it.each([['10'], ['3600'], ['9'.repeat(400)], ['Fri, 31 Dec 9999 23:59:59 GMT'], ['Sat, 28 Nov 2026 12:00:10 GMT']])(
    'is undefined for %s, which is not before the end of the time limit',
    (value) => {
      expect(pauseFor(value)).toBeUndefined();
    },
  );

  it('is undefined when no time is left, also without Retry-After', () => {
    expect([pauseFor(undefined, { leftMs: 50 }), pauseFor('0', { leftMs: 0 }), pauseFor('0', { leftMs: -1 })]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('adds up to 100 ms at random', () => {
    expect([pauseFor('1', { random: 0.5 }), pauseFor(undefined, { random: 0.99 })]).toEqual([1050, 149]);
  });
});
