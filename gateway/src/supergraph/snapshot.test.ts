import { expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { Registry } from 'prom-client';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { startPlannerThread } from '../plan/planner-thread.ts';
import { createUpstreams } from '../upstream/upstream.ts';
import { createSnapshot } from './snapshot.ts';

it('bounds prepared operations in bytes, including their introspection results', async () => {
  const typeDefs = parse(
    `type Query { a: Int b(f: Filter): Int } input Filter { f: Filter } "${'→'.repeat(1024 * 1024)}" type Large { a: Int }`,
  );
  const { supergraphSdl = '' } = composeServices([{ name: 'one', url: 'http://one.invalid/', typeDefs }]);
  const planner = await startPlannerThread(supergraphSdl, DEFAULT_LIMITS);
  const urls = new Map<string, string>();
  const upstreams = createUpstreams({ urls, subscriptionUrls: urls, timeoutMs: 1000, pingIntervalMs: 1000, metrics: new Registry() });
  const snapshot = createSnapshot({ planner, upstreams, labels: [] });
  const ask = (n: number) => ({ query: `query Q${String(n)} { __type(name: "Large") { description } }`, operationName: undefined });
  const other = { query: 'query ($f: Filter) { b(f: $f) }', operationName: undefined };
  await snapshot.prepare(other);
  for (let n = 0; n < 40; n++) await snapshot.prepare(ask(n));
  // 64 MiB hold 31 results of 1 Mi characters.
  const kept = Array.from({ length: 40 }, (_, n) => snapshot.find(ask(n)) !== undefined);
  expect(kept.filter(Boolean).length).toBe(31);
  expect(kept.indexOf(true)).toBe(9);
  expect(snapshot.find(other)).toBeUndefined();
  expect(await snapshot.prepare(other)).toHaveProperty('operation');
  await Promise.all([planner.stop(), upstreams.close()]);
}, 60_000);
