import { expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { Registry } from 'prom-client';
import { NO_ACCESS } from '../access/access-rule.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { startPlannerThread } from '../plan/threads/planner-thread.ts';
import { createUpstreams } from '../upstream/upstream.ts';
import { createSnapshot } from './snapshot.ts';

const NOBODY = { caller: null, identity: [], requestId: 'request' };

it.each([
  // 64 MiB hold 31 results of 2 MiB, and a quarter of that 7.
  { what: 'prepared operations', isUsed: true, expected: 31 },
  { what: 'operations that were not used since they were planned, to a quarter of that,', isUsed: false, expected: 7 },
])(
  'bounds $what in bytes, including their introspection results',
  async ({ isUsed, expected }) => {
    const typeDefs = parse(
      `type Query { a: Int b(f: Filter): Int } input Filter { f: Filter } "${'é'.repeat(1024 * 1024)}" type Large { a: Int }`,
    );
    const { supergraphSdl = '' } = composeServices([{ name: 'one', url: 'http://one.invalid/', typeDefs }]);
    const planner = await startPlannerThread(supergraphSdl, DEFAULT_LIMITS);
    const urls = new Map<string, string>();
    const addresses = { urls, subscriptionUrls: urls };
    const all = createUpstreams({ ...addresses, pingIntervalMs: 1000, metrics: new Registry() });
    const upstreams = all.at(addresses);
    const snapshot = createSnapshot({ planner, upstreams, labels: { active: [], header: undefined }, accessOf: () => NO_ACCESS });
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
    await Promise.all([planner.stop(), all.close()]);
  },
  60_000,
);
