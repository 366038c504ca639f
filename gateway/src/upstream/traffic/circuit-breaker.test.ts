import { describe, expect, it } from '@jest/globals';
import { createCircuitBreaker } from './circuit-breaker.ts';

const create = () => {
  let time = 0;
  const breaker = createCircuitBreaker({ now: () => time });
  const fail = (times: number) => {
    for (let i = 0; i < times; i++) {
      breaker.allow();
      breaker.fail();
    }
  };
  return { breaker, fail, pass: (ms: number) => (time += ms) };
};

describe('createCircuitBreaker', () => {
  it('opens after ten failures in a row, then allows one request at a time, and closes at the first success', () => {
    const { breaker, fail, pass } = create();
    fail(9);
    expect(breaker.allow()).toBe(true);
    breaker.fail();
    expect(breaker.allow()).toBe(false);
    pass(500);
    expect([breaker.allow(), breaker.allow()]).toEqual([true, false]);
    breaker.fail();
    pass(499);
    expect(breaker.allow()).toBe(false);
    pass(1);
    expect(breaker.allow()).toBe(true);
    breaker.succeed();
    expect([breaker.allow(), breaker.allow()]).toEqual([true, true]);
  });

  it('stays closed when failures are rare or a success is between them', () => {
    const { breaker, fail, pass } = create();
    fail(9);
    breaker.succeed();
    fail(9);
    pass(10_001);
    fail(9);
    expect(breaker.allow()).toBe(true);
  });
});
