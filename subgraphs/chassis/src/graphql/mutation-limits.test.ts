import { describe, expect, it } from '@jest/globals';
import { Fault } from '@trestle/schema/errors';
import { buildSchema, execute, parse } from 'graphql';
import { type MutationLimits, applyMutationLimits } from './mutation-limits.ts';

const LIMITS: MutationLimits = { concurrency: 2, queueLength: 3, allowed: { startMs: 60_000, commitMs: 60_000 } };

function createRun(resolve: () => unknown, limits: Partial<MutationLimits> = {}): () => Promise<string> {
  const schema = buildSchema('type Query { a: Int } type Mutation { change: Int }');
  const field = schema.getMutationType()?.getFields()['change'];
  if (field) field.resolve = resolve;
  applyMutationLimits(schema, { ...LIMITS, ...limits });
  return async () => {
    const { errors } = await execute({ schema, document: parse('mutation { change }') });
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
    const outcomes = Array.from({ length: 6 }, run);
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
    let finish: () => void = () => undefined;
    const run = createRun(() => new Promise<void>((resolve) => (finish = resolve)), {
      concurrency: 1,
      allowed: { startMs: 50, commitMs: 50 },
    });
    const first = run();
    expect(await run()).toBe('SERVICE_UNAVAILABLE');
    finish();
    expect(await first).toBe('done');
    const next = run();
    await new Promise(setImmediate);
    finish();
    expect(await next).toBe('done');
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
