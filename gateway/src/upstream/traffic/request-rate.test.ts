/** The limit of requests to a subgraph, with a clock of its own. */
import { describe, expect, it } from '@jest/globals';
import { createRequestRate } from './request-rate.ts';

function start(perSecond: number) {
  const clock = { ms: 1000 };
  const rate = createRequestRate({ perSecond, now: () => clock.ms });
  const take = (count: number) => Array.from({ length: count }, () => rate.take()).filter(Boolean).length;
  return { clock, take };
}

describe('createRequestRate', () => {
  it('allows as many requests at once as in a second, and no more', () => {
    expect(start(5).take(20)).toBe(5);
  });

  it('allows further requests as time passes, also when refused ones came between', () => {
    const { clock, take } = start(5);
    take(20);
    clock.ms += 100;
    expect(take(20)).toBe(0);
    clock.ms += 100;
    expect(take(20)).toBe(1);
    clock.ms += 400;
    expect(take(20)).toBe(2);
  });

  it('saves the requests of one second at most', () => {
    const { clock, take } = start(5);
    clock.ms += 3_600_000;
    expect(take(20)).toBe(5);
  });

  it('allows every request with 0', () => {
    expect(start(0).take(10_000)).toBe(10_000);
  });
});
