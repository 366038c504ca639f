import { describe, expect, it } from '@jest/globals';
import { CanaryJudge } from './canary-judge.ts';
import { RequestSample, isFaulty } from './request-sample.ts';

const settings = { header: undefined, minRequests: 100, errorFactor: 2, p95Factor: 2 };

/** Adds requests of both launches in turn, of which every n-th fails, and returns the reasons. */
function compare(judge: CanaryJudge, canary: { every?: number; ms?: number }, current: { every?: number; ms?: number } = {}): string[] {
  const reasons: string[] = [];
  for (let i = 1; i <= 100; i++)
    for (const [isCanary, { every = Infinity, ms = 10 }] of [[true, canary] as const, [false, current] as const]) {
      const reason = judge.add({ isCanary, isError: i % every === 0, ms });
      if (reason !== undefined) reasons.push(reason);
    }
  return reasons;
}

describe('CanaryJudge', () => {
  it('returns in what the canary is worse when it fails more often than the factor allows', () => {
    expect(compare(new CanaryJudge(settings), { every: 10 }, { every: 50 })).toEqual([
      '10.0 % of 100 requests failed, and 2.0 % beside it',
    ]);
  });

  it.each([
    ['as many errors as the current launch', { every: 5 }, { every: 5 }],
    ['fewer errors than the factor allows', { every: 10 }, { every: 15 }],
    ['one error among a hundred requests', { every: 100 }, {}],
  ])('accepts %s', (_, canary, current) => {
    expect(compare(new CanaryJudge(settings), canary, current)).toEqual([]);
  });

  it('returns nothing before both launches have had the number of requests', () => {
    const judge = new CanaryJudge(settings);
    for (let i = 0; i < 99; i++) expect(judge.add({ isCanary: true, isError: true, ms: 1 })).toBeUndefined();
    for (let i = 0; i < 1000; i++) expect(judge.add({ isCanary: false, isError: false, ms: 1 })).toBeUndefined();
    expect(judge.add({ isCanary: true, isError: true, ms: 1 })).toContain('100.0 %');
  });

  it('returns a slower canary after two comparisons in a row', () => {
    const judge = new CanaryJudge(settings);
    expect(compare(judge, { ms: 200 })).toEqual([]);
    expect(compare(judge, { ms: 10 })).toEqual([]);
    expect(compare(judge, { ms: 200 })).toEqual([]);
    expect(compare(judge, { ms: 200 })).toEqual([
      expect.stringMatching(/^95 % of requests took up to 2\d\d ms, and up to 1\d ms beside it$/),
    ]);
  });

  it('accepts a canary that is slower by less than 20 ms', () => {
    const judge = new CanaryJudge(settings);
    for (let i = 0; i < 3; i++) expect(compare(judge, { ms: 5 }, { ms: 1 })).toEqual([]);
  });
});

describe('RequestSample', () => {
  it('returns the 95th percentile, at most 10 % too high', () => {
    const sample = new RequestSample();
    expect(sample.p95Ms).toBe(0);
    for (let ms = 1; ms <= 1000; ms++) sample.add(false, ms);
    expect(sample.p95Ms).toBeGreaterThanOrEqual(950);
    expect(sample.p95Ms).toBeLessThan(950 * 1.1);
  });

  it.each([0, -1, 1e-9, 1e12, Infinity])('counts a time of %d ms', (ms) => {
    const sample = new RequestSample();
    sample.add(false, ms);
    expect([sample.count, Number.isFinite(sample.p95Ms)]).toEqual([1, true]);
  });
});

it.each([
  ['complete', undefined, false],
  ['partial', undefined, true],
  ['failed', undefined, true],
  ['refused', undefined, true],
  ['refused', 503, true],
  ['refused', 401, false],
  ['refused', 429, false],
] as const)('counts a result that is %s with the status %s as an error: %s', (outcome, status, expected) => {
  expect(isFaulty({ outcome, status })).toBe(expected);
});
