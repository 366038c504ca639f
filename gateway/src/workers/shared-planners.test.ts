/** Planners that workers share, with real planner threads; the channel between the processes is called directly. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { createLog } from '@trestle/log';
import { parse } from 'graphql';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { type PlannerThread, THREAD_LIMITS } from '../plan/threads/planner-thread.ts';
import type { FromPlanner, ToPlanner } from './messages.ts';
import { PlannerChannel } from './planner-channel.ts';
import { createStartPlanner } from './remote-planner.ts';
import { SharedPlanners } from './shared-planners.ts';

const compose = (field: string) =>
  composeServices([{ name: 'one', url: 'http://one.invalid/', typeDefs: parse(`type Query { ${field}: Int }`) }]).supergraphSdl ?? '';
const SDL = compose('a');
const log = createLog({ service: 'test', level: 'silent' });
const toRequest = (query: string) => ({ query, operationName: undefined, labels: [] });

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** A primary, whose replies can be held back. */
function createPrimary() {
  const planners = new SharedPlanners(log);
  const state = { isSilent: false, asked: [] as ToPlanner['kind'][], results: [] as Uint8Array[] };
  const connect = (id: number, pingMs?: number) => {
    const send = (message: FromPlanner, onSent: () => void) => {
      if (message.kind === 'planned') state.results.push(message.result);
      setImmediate(() => {
        if (!state.isSilent) channel.receive(structuredClone(message));
        onSent();
      });
    };
    const channel = new PlannerChannel((message) => {
      if (message.kind !== 'ping planner') state.asked.push(message.kind);
      if (state.isSilent) return;
      setImmediate(() => {
        planners.handle({ id, send }, structuredClone(message));
      });
    }, pingMs);
    const startPlanner = createStartPlanner({ channel, log });
    stops.push(() => {
      planners.release({ id });
    });
    return async (sdl = SDL): Promise<PlannerThread> => {
      const planner = await startPlanner(sdl, DEFAULT_LIMITS, THREAD_LIMITS);
      stops.push(() => planner.stop());
      return planner;
    };
  };
  return { planners, state, connect };
}

describe('a planner that workers share', () => {
  it('plans a document once for all workers', async () => {
    const { state, connect } = createPrimary();
    const [first, second] = [await connect(1)(), await connect(2)()];
    expect(second.facts).toEqual(first.facts);
    const replies = await Promise.all([first.prepare(toRequest('{ a }')), second.prepare(toRequest('{ a }'))]);
    replies.push(await second.prepare(toRequest('{ a }')));
    expect(replies[1]).toEqual(replies[0]);
    expect(replies[0]).toHaveProperty('program.kind', 'query');
    // The same bytes: those of one plan.
    expect(state.results).toHaveLength(3);
    expect(new Set(state.results).size).toBe(1);
  });

  it('gets the supergraph from the first worker only', async () => {
    const { state, connect } = createPrimary();
    await connect(1)();
    expect(state.asked).toEqual(['open planner', 'open planner']);
    await connect(2)();
    expect(state.asked).toHaveLength(3);
  });

  it('plans each document for the supergraph of the worker that asks', async () => {
    const { connect } = createPrimary();
    const [before, after] = [await connect(1)(), await connect(2)(compose('b'))];
    expect(await before.prepare(toRequest('{ a }'))).toHaveProperty('program');
    expect(await after.prepare(toRequest('{ b }'))).toHaveProperty('program');
    expect(await after.prepare(toRequest('{ a }'))).toMatchObject({ errors: [{ message: expect.stringContaining('Cannot query field') }] });
  });

  it('rejects as a thread of the process does: for a bad document, and for a bad supergraph with the reason', async () => {
    const { connect } = createPrimary();
    const open = connect(1);
    const planner = await open();
    await expect(planner.describe('{ missing }')).rejects.toMatchObject({ code: 'VALIDATION_ERROR' });
    await expect(open('type Query { a: Int }')).rejects.toThrow(/supergraph/i);
    expect(await planner.prepare(toRequest('query Later { a }'))).toHaveProperty('program');
  });

  it('goes on for the other workers when one ends', async () => {
    const { planners, connect } = createPrimary();
    const [, second] = [await connect(1)(), await connect(2)()];
    planners.release({ id: 1 });
    expect(await second.prepare(toRequest('{ a }'))).toHaveProperty('program');
  });
});

describe('a worker whose primary does not answer', () => {
  it('plans what waits, and what comes later, in a thread of its own', async () => {
    const { state, connect } = createPrimary();
    const planner = await connect(1, 10)();
    state.isSilent = true;
    expect(await planner.prepare(toRequest('{ a }'))).toHaveProperty('program');
    state.asked.length = 0;
    expect(await planner.prepare(toRequest('query Later { a }'))).toHaveProperty('program');
    expect(state.asked).not.toContain('plan');
  });

  it('starts with a thread of its own', async () => {
    const { state, connect } = createPrimary();
    state.isSilent = true;
    const planner = await connect(1, 10)();
    expect(await planner.prepare(toRequest('{ a }'))).toHaveProperty('program');
  });
});

it('rejects what waits when the worker stops', async () => {
  const { state, connect } = createPrimary();
  const planner = await connect(1)();
  state.isSilent = true;
  const waiting = planner.prepare(toRequest('{ a }'));
  await planner.stop();
  await expect(waiting).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
});
