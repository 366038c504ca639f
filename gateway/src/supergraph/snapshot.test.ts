import { afterEach, expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { Registry } from 'prom-client';
import { NO_ACCESS } from '../access/access-rule.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { startPlannerThread } from '../plan/threads/planner-thread.ts';
import { createUpstreams } from '../upstream/upstream.ts';
import { createSnapshot } from './snapshot.ts';

const NOBODY = { caller: null, identity: [], requestId: 'request' };

let stop: () => Promise<unknown>;
afterEach(() => stop());

/** Starts a planner and a snapshot of it, until the test ends. */
async function startSnapshot(sdl: string) {
  const { supergraphSdl = '' } = composeServices([{ name: 'one', url: 'http://one.invalid/', typeDefs: parse(sdl) }]);
  const planner = await startPlannerThread(supergraphSdl, DEFAULT_LIMITS);
  stop = () => planner.stop();
  const urls = new Map<string, string>();
  const addresses = { urls, subscriptionUrls: urls };
  const all = createUpstreams({ ...addresses, pingIntervalMs: 1000, metrics: new Registry() });
  stop = () => Promise.all([planner.stop(), all.close()]);
  const labels = { active: [], header: undefined };
  return createSnapshot({ planner, upstreams: all.at(addresses), labels, accessOf: () => NO_ACCESS });
}

it.each([
  [{ operationName: 'A', query: 'query A {a}' }, { query: '\nA\nquery A {a}' }],
  [{ operationName: 'A', query: 'query A {a}' }, { query: '\0n\n1:A\nquery A {a}' }],
  [
    { operationName: 'A', query: 'query A {a}' },
    { operationName: 'A\nquery A {', query: 'a}' },
  ],
  [{ query: '\nquery A {\na}' }, { operationName: 'query A {', query: 'a}' }],
  [{ query: 'query A {a}' }, { operationName: '', query: 'query A {a}' }],
])('keeps the plan of %j apart from that of %j', async (request, other) => {
  const snapshot = await startSnapshot('type Query { a: Int b: Int }');
  await snapshot.prepare({ operationName: undefined, ...other }, { access: NO_ACCESS });
  expect(snapshot.find({ operationName: undefined, ...request }, NOBODY)).toBeUndefined();
  expect(await snapshot.prepare({ operationName: undefined, ...request }, { access: NO_ACCESS })).toHaveProperty('operation');
});

it.each([
  // 64 MiB hold 31 results of 2 MiB, and a quarter of that 7.
  { what: 'prepared operations', isUsed: true, expected: 31 },
  { what: 'operations that were not used since they were planned, to a quarter of that,', isUsed: false, expected: 7 },
])(
  'bounds $what in bytes, including their introspection results',
  async ({ isUsed, expected }) => {
    const snapshot = await startSnapshot(
      `type Query { a: Int b(f: Filter): Int } input Filter { f: Filter } "${'é'.repeat(1024 * 1024)}" type Large { a: Int }`,
    );
    const ask = (n: number) => ({ query: `query Q${String(n)} { __type(name: "Large") { description } }`, operationName: undefined });
    const other = { query: 'query ($f: Filter) { b(f: $f) }', operationName: undefined };
    await snapshot.prepare(other, { access: NO_ACCESS });
    for (let n = 0; n < 40; n++) {
      await snapshot.prepare(ask(n), { access: NO_ACCESS });
      // Results of this size are kept when they are requested again.
      expect(snapshot.find(ask(n), NOBODY)).toBeUndefined();
      await snapshot.prepare(ask(n), { access: NO_ACCESS });
      if (isUsed) snapshot.find(ask(n), NOBODY);
    }
    const kept = Array.from({ length: 40 }, (_, n) => snapshot.find(ask(n), NOBODY) !== undefined);
    expect(kept.filter(Boolean).length).toBe(expected);
    expect(kept.indexOf(true)).toBe(40 - expected);
    expect(snapshot.find(other, NOBODY)).toBeUndefined();
    expect(await snapshot.prepare(other, { access: NO_ACCESS })).toHaveProperty('operation');
  },
  60_000,
);
