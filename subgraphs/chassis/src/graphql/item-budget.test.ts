import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ItemBudget, type ItemClaim } from './item-budget.ts';

/** Returns whether the promise has settled once everything that could settle it has run. */
async function isSettled(promise: Promise<unknown> | undefined): Promise<boolean> {
  const pending = Symbol('pending');
  const turn = new Promise((resolve) => setImmediate(resolve, pending));
  return (await Promise.race([promise?.catch(() => undefined), turn])) !== pending;
}

it('a result with few items never waits, also while large ones have taken all shared items', () => {
  const budget = new ItemBudget({ freeItems: 5, sharedItems: 10 });
  const [first, second, third, small] = [budget.open(), budget.open(), budget.open(), budget.open()];
  void first.take(10);
  void second.take(11);
  void third.take(11);
  expect(small.take(2)).toBeUndefined();
  expect(small.take(3)).toBeUndefined();
  expect(small.take(1)).toBeInstanceOf(Promise);
});

describe('results that are small together', () => {
  it('never wait', () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 30 });
    for (let result = 0; result < 3; result++) expect(budget.open().take(10)).toBeUndefined();
  });

  it('never wait for those that have ended', () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 10 });
    const large = budget.open();
    for (let result = 0; result < 20; result++) {
      const claim = budget.open();
      expect(claim.take(10)).toBeUndefined();
      claim.release();
      claim.release();
    }
    expect(large.take(10)).toBeUndefined();
  });
});

describe('results that are large together', () => {
  it('are continued one after another, in the order in which they became large', async () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 10 });
    const [first, second, third] = [budget.open(), budget.open(), budget.open()];
    expect(first.take(11)).toBeUndefined();
    expect(first.take(1000)).toBeUndefined();
    const [secondTurn, thirdTurn] = [second.take(11), third.take(11)];
    expect(await isSettled(secondTurn)).toBe(false);
    first.release();
    expect(await isSettled(secondTurn)).toBe(true);
    expect(second.take(1000)).toBeUndefined();
    expect(await isSettled(thirdTurn)).toBe(false);
    second.release();
    expect(await isSettled(thirdTurn)).toBe(true);
  });

  it('let small ones pass meanwhile', () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 10 });
    void budget.open().take(11);
    expect(budget.open().take(10)).toBeUndefined();
  });

  it('are refused with SERVICE_UNAVAILABLE when they wait too long, and keep no turn', async () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 1, maxWaitMs: 10 });
    const [first, second, third] = [budget.open(), budget.open(), budget.open()];
    void first.take(2);
    await expect(second.take(2)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    second.release();
    first.release();
    expect(third.take(2)).toBeUndefined();
  });

  it('end no process when they wait too long and nobody awaits their turn', async () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 1, maxWaitMs: 1 });
    const rejections: unknown[] = [];
    const listen = (error: unknown) => rejections.push(error);
    process.on('unhandledRejection', listen);
    void budget.open().take(2);
    void budget.open().take(2);
    await expect(budget.open().take(2)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await new Promise(setImmediate);
    process.off('unhandledRejection', listen);
    expect(rejections).toEqual([]);
  });

  it('are ended while they wait without taking a turn', async () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 1 });
    const [first, second, third] = [budget.open(), budget.open(), budget.open()];
    void first.take(2);
    const turns = [second.take(2), third.take(2)];
    second.release();
    first.release();
    expect(await isSettled(turns[1])).toBe(true);
    expect(await isSettled(turns[0])).toBe(false);
  });

  it('take nothing for lists that are read after their end', () => {
    const budget = new ItemBudget({ freeItems: 0, sharedItems: 10 });
    const ended = budget.open();
    ended.release();
    expect(ended.take(1000)).toBeUndefined();
    expect(budget.open().take(10)).toBeUndefined();
    expect(budget.open().take(11)).toBeUndefined();
  });
});

it('every result has its turn, and leaves nothing taken, for any order of lists and ends', async () => {
  const step = fc.record({ result: fc.nat(5), items: fc.nat(8), ends: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const budget = new ItemBudget({ freeItems: 0, sharedItems: 10 });
      const claims = Array.from({ length: 6 }, () => budget.open());
      const turns = steps.map(({ result, items, ends }) => {
        const turn = claims[result]?.take(items);
        if (ends) claims[result]?.release();
        return { result, turn, hasEnded: ends };
      });
      const ended = new Set(turns.flatMap(({ result, hasEnded }) => (hasEnded ? [result] : [])));
      const finish = async (claim: ItemClaim, result: number) => {
        if (!ended.has(result)) for (const each of turns) if (each.result === result) await each.turn;
        claim.release();
      };
      await Promise.all(claims.map(finish));
      expect(budget.open().take(10)).toBeUndefined();
      expect(budget.open().take(11)).toBeUndefined();
    }),
  );
});
