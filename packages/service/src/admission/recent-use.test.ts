import { describe, expect, it } from '@jest/globals';
import { RecentUse } from './recent-use.ts';

describe('RecentUse', () => {
  it('calls a client light that has used less than half as much as the client that has used most', () => {
    const use = new RecentUse(() => performance.now());
    use.add('a', 100);
    use.add('b', 49);
    use.add('c', 50);
    expect(['a', 'b', 'c', 'unknown'].map((client) => use.isLight(client))).toEqual([false, true, false, true]);
  });

  it('calls no client light before any has used time', () => {
    expect(new RecentUse(() => performance.now()).isLight('a')).toBe(false);
  });

  it('calls a client costly for a short time after it has stopped the event loop, unless it has used little in all', () => {
    const use = new RecentUse(() => performance.now());
    use.add('a', 40);
    for (let n = 0; n < 100; n++) use.add('b', 1);
    expect(['a', 'b', 'unknown'].map((client) => use.isCostly(client))).toEqual([false, false, false]);
    use.add('a', 20);
    expect(use.isCostly('a')).toBe(true);
    use.decay(500);
    expect(use.isCostly('a')).toBe(false);
  });

  it('calls a client costly neither for one short pause, nor for pauses that are the smaller part of its time', () => {
    const use = new RecentUse(() => performance.now());
    use.add('a', 19);
    expect(use.isCostly('a')).toBe(false);
    for (let n = 0; n < 50; n++) use.add('a', 1);
    use.add('a', 19);
    expect(use.isCostly('a')).toBe(false);
    use.add('a', 30);
    expect(use.isCostly('a')).toBe(true);
  });

  it('halves the use of every client in a quarter of a second, and forgets it in the end', () => {
    const use = new RecentUse(() => performance.now());
    use.add('a', 100);
    use.decay(250);
    use.add('b', 26);
    expect(use.isLight('b')).toBe(false);
    use.decay(60_000);
    use.add('c', 1);
    expect(use.isLight('a')).toBe(true);
    expect(use.isLight('c')).toBe(false);
  });

  it('measures what is called within something else as time of the outer client', () => {
    const use = new RecentUse(() => performance.now());
    use.measure('a', () => {
      use.measure('b', () => {
        const startedAt = performance.now();
        while (performance.now() - startedAt < 1);
      });
    });
    expect([use.isLight('a'), use.isLight('b')]).toEqual([false, true]);
  });

  it('measures what throws, and what is called after it', () => {
    const use = new RecentUse(() => performance.now());
    const fault = () => {
      throw new Error('a fault');
    };
    expect(() => {
      use.measure('a', fault);
    }).toThrow('a fault');
    use.add('b', 60_000);
    use.measure('a', () => undefined);
    expect(use.isLight('a')).toBe(true);
  });
});
