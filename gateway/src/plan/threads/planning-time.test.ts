import { describe, expect, it } from '@jest/globals';
import { PlanningTime } from './planning-time.ts';

function create() {
  const clock = { now: 0 };
  return { clock, time: new PlanningTime({ share: 0.5, burstMs: 100, maxPauseMs: 1000, now: () => clock.now }) };
}

describe('PlanningTime', () => {
  it('pauses a client that has used more than its share, and no other', () => {
    const { clock, time } = create();
    for (let n = 0; n < 10; n++) {
      clock.now += 10;
      expect(time.pauseOf('a')).toBe(0);
      time.spend('a', 10);
    }
    clock.now += 10;
    time.spend('a', 10);
    expect(time.pauseOf('a')).toBe(10);
    expect(time.pauseOf('b')).toBe(0);
  });

  it('gives a client its share of a long time', () => {
    const { clock, time } = create();
    let spentMs = 0;
    while (clock.now < 10_000) {
      clock.now += time.pauseOf('a') + 20;
      time.spend('a', 20);
      spentMs += 20;
    }
    expect(spentMs).toBeGreaterThan(4900);
    expect(spentMs).toBeLessThan(5200);
  });

  it('gives a client the whole burst again after it has used nothing for a time', () => {
    const { clock, time } = create();
    clock.now = 5000;
    time.spend('a', 100);
    clock.now += 1000;
    time.spend('a', 90);
    expect(time.pauseOf('a')).toBe(0);
  });

  it('pauses a client for at most a bounded time, however long its document took', () => {
    const { time } = create();
    time.spend('a', 60_000);
    expect(time.pauseOf('a')).toBe(1000);
  });

  it('forgets clients beyond a thousand, those without a pause first', () => {
    const { clock, time } = create();
    clock.now = 1000;
    time.spend('a', 500);
    for (let n = 0; n < 1000; n++) time.spend(String(n), 0);
    expect(time.pauseOf('a')).toBeGreaterThan(0);
    for (let n = 0; n < 1000; n++) time.spend(`b${String(n)}`, 300);
    expect(time.pauseOf('a')).toBe(0);
  });
});
