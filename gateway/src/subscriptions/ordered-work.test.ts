import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { OrderedWork } from './ordered-work.ts';

describe('OrderedWork', () => {
  it('delivers in order what is done in any order, within the concurrency, and calls onIdle when nothing is left', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constant('push' as const), fc.nat(20)), { maxLength: 80 }),
        fc.integer({ min: 1, max: 5 }),
        (steps, concurrent) => {
          const running: { input: number; done: (output: number) => void }[] = [];
          const delivered: number[] = [];
          let pushed = 0;
          let idle = 0;
          const work = new OrderedWork<number, number>({
            concurrent: () => concurrent,
            work: (input, done) => {
              running.push({ input, done });
              return undefined;
            },
            deliver: (output) => delivered.push(output),
            onIdle: () => {
              expect(work.size).toBe(0);
              idle++;
            },
          });
          const finish = (at: number) => {
            const [one] = running.splice(at % Math.max(running.length, 1), 1);
            one?.done(one.input);
            // A second call is ignored.
            one?.done(-1);
          };
          for (const step of steps) {
            if (step === 'push') work.push(pushed++);
            else finish(step);
            expect(running.length).toBeLessThanOrEqual(concurrent);
            expect(delivered.length + work.size).toBe(pushed);
          }
          while (running.length > 0) finish(0);
          expect(delivered).toEqual(Array.from({ length: pushed }, (_, n) => n));
          expect(idle > 0).toBe(pushed > 0);
        },
      ),
    );
  });

  it('delivers any number of outputs that wait for an earlier one', () => {
    let release: () => void = () => undefined;
    let delivered = 0;
    const work = new OrderedWork<number, number>({
      concurrent: () => 1,
      work: (input, done) => {
        if (input > 0) done(input);
        else
          release = () => {
            done(input);
          };
        return undefined;
      },
      deliver: () => delivered++,
      onIdle: () => undefined,
    });
    for (let n = 0; n < 10_000; n++) work.push(n);
    expect([delivered, work.size]).toEqual([0, 10_000]);
    release();
    expect([delivered, work.size]).toEqual([10_000, 0]);
  });

  it('delivers work that is done synchronously', () => {
    const delivered: number[] = [];
    const work = new OrderedWork<number, number>({
      concurrent: () => 2,
      work: (input, done) => {
        done(input * 2);
        return undefined;
      },
      deliver: (output) => delivered.push(output),
      onIdle: () => undefined,
    });
    for (const n of [1, 2, 3]) work.push(n);
    expect([delivered, work.size]).toEqual([[2, 4, 6], 0]);
  });

  it('starts and delivers nothing after stop, and cancels what is in flight', () => {
    const running: ((output: number) => void)[] = [];
    const delivered: number[] = [];
    const cancelled: number[] = [];
    const work = new OrderedWork<number, number>({
      concurrent: () => 2,
      work: (input, done) => {
        running.push(done);
        return { cancel: () => cancelled.push(input) };
      },
      deliver: (output) => delivered.push(output),
      onIdle: () => undefined,
    });
    for (let n = 0; n < 10; n++) work.push(n);
    running[0]?.(0);
    work.stop();
    for (const done of running) done(1);
    expect([running.length, delivered, work.size, cancelled]).toEqual([3, [0], 0, [1, 2]]);
  });

  it('continues after deliver threw', () => {
    const delivered: number[] = [];
    const work = new OrderedWork<number, number>({
      concurrent: () => 1,
      work: (input, done) => {
        done(input);
        return undefined;
      },
      deliver: (output) => {
        if (output === 1) throw new Error('a fault');
        delivered.push(output);
      },
      onIdle: () => undefined,
    });
    expect(() => {
      work.push(1);
    }).toThrow('a fault');
    work.push(2);
    expect(delivered).toEqual([2]);
  });
});
