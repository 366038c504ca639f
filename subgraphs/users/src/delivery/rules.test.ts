import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '@trestle/service/testing/test-characters';
import fc from 'fast-check';
import { RETRY_SECONDS, parseRetrySeconds, toLoggedHeaders, toOutcome } from './rules.ts';

const retrySeconds = RETRY_SECONDS;
const outcomeOf = (status: number | null, attempts = 1, headers = {}) =>
  toOutcome({ status, headers, error: null }, { attempts, retrySeconds, random: 0 });

describe('the outcome of an attempt', () => {
  it('is a success for 2xx only, and the end for 410', () => {
    expect([200, 204, 299].map((status) => outcomeOf(status).kind)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    expect([null, 199, 302, 400, 404, 429, 500].map((status) => outcomeOf(status).kind)).toEqual(Array(7).fill('retry'));
    expect(outcomeOf(410).kind).toBe('gone');
  });

  it('is a retry after the published pauses, and a failure after the last', () => {
    const delays = retrySeconds.map((_, i) => outcomeOf(500, i + 1));
    expect(delays).toEqual(retrySeconds.map((seconds) => ({ kind: 'retry', delayMs: seconds * 1000 })));
    expect(outcomeOf(500, retrySeconds.length + 1).kind).toBe('failed');
  });

  it('has a pause that is up to a fifth longer, by chance', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 1, max: retrySeconds.length }), (random, attempts) => {
        const outcome = toOutcome({ status: 500, headers: null, error: null }, { attempts, retrySeconds, random });
        const pause = (retrySeconds[attempts - 1] ?? 0) * 1000;
        expect(outcome.kind === 'retry' && outcome.delayMs >= pause && outcome.delayMs <= pause * 1.2 + 1).toBe(true);
      }),
    );
  });

  it('waits as long as `Retry-After` demands, a day at most', () => {
    expect(outcomeOf(429, 1, { 'retry-after': '120' })).toEqual({ kind: 'retry', delayMs: 120_000 });
    expect(outcomeOf(429, 1, { 'retry-after': '999999' })).toEqual({ kind: 'retry', delayMs: 86_400_000 });
    expect(outcomeOf(429, 1, { 'retry-after': 'soon' })).toEqual({ kind: 'retry', delayMs: 5000 });
  });
});

describe('logged headers', () => {
  it('are bounded, and contain neither cookies nor credentials', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`x-${String(i)}`, 'v'.repeat(1000)]));
    const logged = toLoggedHeaders({ 'set-cookie': ['a=b'], 'x-api-key': 'k', authorization: 'x', 'x-auth-token': 'x', ...many });
    expect(Object.keys(logged)).toHaveLength(20);
    expect(Object.entries(logged).every(([name, value]) => /^x-\d+$/.test(name) && value.length === 200)).toBe(true);
  });

  it('contain only what PostgreSQL stores', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (value) => {
        const [logged = ''] = Object.values(toLoggedHeaders({ a: value }));
        expect(logged.isWellFormed() && !logged.includes('\0')).toBe(true);
      }),
    );
  });
});

describe('parseRetrySeconds', () => {
  it('reads pauses, and refuses anything else', () => {
    expect(parseRetrySeconds('5, 300')).toEqual([5, 300]);
    for (const text of ['', '0', '-1', '1.5', 'x', '999999', Array(21).fill('1').join()])
      expect(() => parseRetrySeconds(text)).toThrow('must list');
  });
});
