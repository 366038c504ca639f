import { describe, expect, it } from '@jest/globals';
import { CostlyRequests } from './costly-requests.ts';

const BUSY = { isBusy: true, intervals: 1, isShared: true, hasWaiting: true };

/** Requests of costly clients, and a clock in milliseconds. */
function create() {
  const clock = { ms: 1000 };
  const costly = new CostlyRequests(() => clock.ms);
  costly.begin();
  return { clock, costly };
}

describe('CostlyRequests', () => {
  it('lets one request begin at a time while the event loop is busy, and more while it has time left', () => {
    const { costly } = create();
    costly.enter();
    costly.adapt(BUSY);
    expect(costly.mayBegin(0)).toBe(false);
    costly.adapt({ ...BUSY, isBusy: false });
    expect(costly.mayBegin(0)).toBe(true);
    costly.enter();
    expect(costly.mayBegin(0)).toBe(false);
    costly.leave();
    costly.leave();
    expect(costly.inFlight).toBe(0);
  });

  it('uses half of the time while requests of other clients are in flight', () => {
    const { costly, clock } = create();
    costly.charge(30);
    expect(costly.mayBegin(1)).toBe(false);
    clock.ms += 40;
    expect(costly.mayBegin(1)).toBe(false);
    clock.ms += 1;
    expect(costly.mayBegin(1)).toBe(true);
    let usedMs = 0;
    for (const end = clock.ms + 10_000; clock.ms < end; clock.ms++) {
      if (!costly.mayBegin(1)) continue;
      costly.charge(25);
      usedMs += 25;
    }
    expect(usedMs / 10_000).toBeCloseTo(0.5, 1);
  });

  it('uses all of the time while no other request is in flight', () => {
    const { costly } = create();
    costly.charge(1000);
    expect(costly.mayBegin(0)).toBe(true);
  });

  it('keeps little of the time that it has not used', () => {
    const { costly, clock } = create();
    clock.ms += 60_000;
    costly.charge(11);
    expect(costly.mayBegin(1)).toBe(false);
  });
});
