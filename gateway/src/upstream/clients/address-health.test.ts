import { describe, expect, it } from '@jest/globals';
import { AddressHealth, type Choice, MAX_EJECTION_MS } from './address-health.ts';
import type { Outcome } from '../traffic/outcome.ts';

const create = (count: number, maxFailures = 3) => {
  let time = 0;
  const ejected: number[] = [];
  const health = new AddressHealth({ count, maxFailures, ejectionMs: 1000, now: () => time, onEject: (index) => ejected.push(index) });
  const choose = (isQuery = true, tried: number[] = []) => health.choose(isQuery, tried) as Choice;
  /** Ends requests at one address until it is ejected, or `times` have ended. */
  const run = (index: number, outcome: Outcome, times: number) => {
    for (let i = 0; i < times; i++) {
      const others = Array.from({ length: count }, (_, each) => each).filter((each) => each !== index);
      health.end(choose(true, others), outcome);
    }
  };
  return { health, choose, run, ejected, pass: (ms: number) => (time += ms) };
};

describe('AddressHealth', () => {
  it('chooses the address with fewer requests in flight, and in turn those with as few', () => {
    const { health, choose } = create(2);
    const [first, second] = [choose(), choose()];
    expect([first.index, second.index].sort()).toEqual([0, 1]);
    health.end(second, 'success');
    expect(choose().index).toBe(second.index);
  });

  it('ejects an address after failures without a success in between, but never the last one', () => {
    const { run, choose, ejected } = create(2);
    run(0, 'failure', 2);
    run(0, 'success', 1);
    run(0, 'failure', 2);
    run(0, 'unknown', 5);
    expect(ejected).toEqual([]);
    run(0, 'failure', 1);
    expect(ejected).toEqual([0]);
    run(1, 'failure', 10);
    expect(ejected).toEqual([0]);
    expect([choose().index, choose().index, choose().index]).toEqual([1, 1, 1]);
  });

  it('prefers an address at which the request has not failed, to one that is busy or ejected', () => {
    const { health, run, choose, pass } = create(3);
    run(0, 'failure', 3);
    for (let i = 0; i < 4; i++) health.choose(true, [0, 1]);
    expect(health.choose(true, [], [1])).toEqual({ index: 2, isProbe: false });
    // The time of the ejected address is over, but the request has no attempt to lose.
    pass(1000);
    expect(health.choose(true, [], [1])).toEqual({ index: 2, isProbe: false });
    expect(health.choose(true, [2], [1])).toEqual({ index: 1, isProbe: false });
    expect(choose()).toEqual({ index: 0, isProbe: true });
  });

  it('lets one query probe an ejected address when its time is over, and restores it after a success', () => {
    const { health, run, choose, pass } = create(2);
    run(0, 'failure', 3);
    pass(999);
    expect(choose()).toEqual({ index: 1, isProbe: false });
    pass(1);
    expect(choose(false)).toEqual({ index: 1, isProbe: false });
    const probe = choose();
    expect(probe).toEqual({ index: 0, isProbe: true });
    expect(choose().index).toBe(1);
    health.end(probe, 'success');
    expect(choose()).toEqual({ index: 0, isProbe: false });
  });

  it('ejects for twice as long each time, up to the longest time, and briefly again after a long time without', () => {
    const { health, run, choose, pass, ejected } = create(2);
    run(0, 'failure', 3);
    for (const milliseconds of [1000, 2000, 4000, 8000, 16_000, MAX_EJECTION_MS, MAX_EJECTION_MS]) {
      pass(milliseconds - 1);
      expect(choose().index).toBe(1);
      pass(1);
      const probe = choose();
      expect(probe).toEqual({ index: 0, isProbe: true });
      health.end(probe, 'failure');
    }
    pass(MAX_EJECTION_MS);
    health.end(choose(), 'success');
    pass(MAX_EJECTION_MS + 1);
    run(0, 'failure', 3);
    expect(ejected).toEqual([0, 0]);
    pass(1000);
    expect(choose()).toEqual({ index: 0, isProbe: true });
  });

  it('probes again after a probe without an outcome, and lets a mutation probe when no query comes', () => {
    const { health, run, choose, pass } = create(2);
    run(0, 'failure', 3);
    pass(1000);
    health.end(choose(), 'unknown');
    expect(choose()).toEqual({ index: 0, isProbe: true });
    const other = create(2);
    other.run(0, 'failure', 3);
    other.pass(1000 + MAX_EJECTION_MS);
    expect(other.choose(false)).toEqual({ index: 0, isProbe: true });
  });

  it('gives a request that all others refused to an ejected address', () => {
    const { health, run, choose } = create(2);
    run(0, 'failure', 3);
    expect(choose(true, [1])).toEqual({ index: 0, isProbe: false });
    expect(health.choose(true, [0, 1])).toBeUndefined();
    expect([health.pick(), health.pick()]).toEqual([1, 1]);
  });
});
