import { describe, expect, it } from '@jest/globals';
import { Fault } from '@trestle/schema/errors';
import { buildSchema, execute, parse } from 'graphql';
import { lateness } from '../database/deadline.ts';
import { type MutationLimits, applyMutationLimits } from './mutation-limits.ts';

const LIMITS: MutationLimits = { concurrency: 2, queueLength: 3, allowed: { startMs: 60_000, commitMs: 60_000 } };

function createRun(resolve: () => unknown, limits: Partial<MutationLimits> = {}): (contextValue?: object) => Promise<string> {
  const schema = buildSchema('type Query { a: Int } type Mutation { change: Int }');
  const field = schema.getMutationType()?.getFields()['change'];
  if (field) field.resolve = resolve;
  applyMutationLimits(schema, { ...LIMITS, ...limits });
  return async (contextValue) => {
    const { errors } = await execute({ schema, document: parse('mutation { change }'), contextValue });
    const cause = errors?.[0]?.originalError;
    return cause instanceof Fault ? cause.code : (cause?.message ?? 'done');
  };
}

describe('mutations', () => {
  it('run up to the limit at once, wait in a queue beyond it, and are SERVICE_UNAVAILABLE when the queue is full', async () => {
    const open: (() => void)[] = [];
    let most = 0;
    let running = 0;
    const run = createRun(async () => {
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => open.push(resolve));
      running--;
    });
    const outcomes = Array.from({ length: 6 }, () => run());
    expect(await outcomes[5]).toBe('SERVICE_UNAVAILABLE');
    for (let done = 0; done < 5;) {
      await new Promise(setImmediate);
      for (const finish of open.splice(0)) {
        finish();
        done++;
      }
    }
    expect(await Promise.all(outcomes.slice(0, 5))).toEqual(Array(5).fill('done'));
    expect(most).toBe(2);
  });

  it('are SERVICE_UNAVAILABLE when they do not start in time, and leave the queue', async () => {
    const open: (() => void)[] = [];
    const run = createRun(() => new Promise<void>((resolve) => open.push(resolve)), {
      concurrency: 1,
      allowed: { startMs: 50, commitMs: 50 },
    });
    const finish = async () => {
      while (open.length === 0) await new Promise(setImmediate);
      open.pop()?.();
    };
    const first = run();
    expect(await run()).toBe('SERVICE_UNAVAILABLE');
    await finish();
    expect(await first).toBe('done');
    const next = run();
    await finish();
    expect(await next).toBe('done');
  });

  it('do not begin when the end of the connection arrives after the request, and send no statement when it arrives later', async () => {
    let calls = 0;
    let isAbandoned = false;
    const seen: unknown[] = [];
    const run = createRun(() => {
      calls++;
      seen.push(lateness('INSERT'), lateness('COMMIT'));
      isAbandoned = true;
      seen.push(lateness('INSERT'), lateness('COMMIT'), lateness('ROLLBACK'));
    });
    const context = { isAbandoned: () => isAbandoned };
    const first = run(context);
    isAbandoned = true;
    expect([await first, calls]).toEqual(['SERVICE_UNAVAILABLE', 0]);
    isAbandoned = false;
    expect([await run(context), calls]).toEqual(['done', 1]);
    expect(seen).toEqual([undefined, undefined, 'late', 'expired', undefined]);
  });

  it('are retried twice after a serialization failure, and not after another error', async () => {
    let calls = 0;
    const failing = (times: number, code: string) => () => {
      if (++calls <= times) throw Object.assign(new Error('failed'), { code });
    };
    expect([await createRun(failing(2, '40P01'))(), calls]).toEqual(['done', 3]);
    calls = 0;
    expect([await createRun(failing(9, '40001'))(), calls]).toEqual(['failed', 3]);
    calls = 0;
    expect([await createRun(failing(9, '23505'))(), calls]).toEqual(['failed', 1]);
  });
});
