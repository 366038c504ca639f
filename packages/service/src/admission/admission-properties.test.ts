/** Whatever clients send, and whatever their requests cost: each request begins once. */
import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type Admission, createAdmission } from './admission.ts';
import type { Slot, Task } from './client-queues.ts';

let admission: Admission;
afterEach(() => {
  admission.close();
});

/** A step: a request of a client, the end of the oldest or the newest one in flight, the end of a waiting one, or time that passes. */
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('enter' as const),
      client: fc.constantFrom('a', 'b', 'c'),
      costMs: fc.constantFrom(0, 1, 6, 25, 60),
    }),
  },
  fc.record({ kind: fc.constantFrom('endOldest' as const, 'endNewest' as const, 'giveUp' as const, 'iterate' as const) }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(1, 20, 300, 1500) }),
);

interface Entered {
  readonly task: Task;
  begins: number;
  isGivenUp: boolean;
}

/** Runs the steps, and then ends every request as it begins; goes on for ever when one never begins. Returns all requests. */
async function run(steps: readonly (typeof step extends fc.Arbitrary<infer Step> ? Step : never)[], isBusy: boolean): Promise<Entered[]> {
  let clock = 0;
  admission = createAdmission({ now: () => clock, readUtilization: () => (isBusy ? 1 : 0) });
  const all: Entered[] = [];
  const inFlight: Slot[] = [];
  const enter = (client: string, costMs: number) => {
    const begin = (slot: Slot) => {
      entered.begins++;
      clock += costMs;
      admission.charge(client, costMs);
      inFlight.push(slot);
    };
    const entered: Entered = { task: { client, bytes: 1, begin }, begins: 0, isGivenUp: false };
    admission.isShared(client);
    expect(admission.enter(entered.task)).toBe(true);
    all.push(entered);
  };
  for (const each of steps) {
    if (each.kind === 'enter') enter(each.client, each.costMs);
    else if (each.kind === 'endOldest') inFlight.shift()?.release();
    else if (each.kind === 'endNewest') inFlight.pop()?.release();
    else if (each.kind === 'pass') clock += each.ms;
    else if (each.kind === 'iterate') await setImmediate();
    else {
      const waiting = all.find(({ begins, isGivenUp }) => begins === 0 && !isGivenUp);
      if (!waiting) continue;
      admission.leave(waiting.task);
      waiting.isGivenUp = true;
    }
  }
  while (inFlight.length > 0 || all.some(({ begins, isGivenUp }) => begins === 0 && !isGivenUp)) {
    for (const slot of inFlight.splice(0)) slot.release();
    await setImmediate();
    clock++;
  }
  return all;
}

it('begins each request once, whatever the requests before it have cost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 100, size: 'max' }), fc.boolean(), async (steps, isBusy) => {
      const all = await run(steps, isBusy);
      expect(all.every(({ begins, isGivenUp }) => begins === 1 || (isGivenUp && begins <= 1))).toBe(true);
      admission.close();
    }),
    { numRuns: 200 },
  );
});
