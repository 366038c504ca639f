/** The operation of the public federation benchmark on its four subgraphs (bench/federation). */
import { describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, graphql } from 'graphql';
import { createBufferPool } from '#gateway/execute/buffer-pool';
import { ArenaPool } from '#gateway/execute/bytes/arena';
import { createBytesExecutor } from '#gateway/execute/bytes/bytes-executor';
import { type Executor, OBJECT_EXECUTOR } from '#gateway/execute/executor';
import { startTrestle } from './engines.ts';
import type { Subgraphs } from './subgraphs.ts';

interface Benchmark {
  readonly QUERY: string;
  readonly SUBGRAPHS: Record<string, unknown>;
  buildSchema(name: string): GraphQLSchema;
  compose(urls: Record<string, string>): string;
  expectedResult(): Promise<{ data: unknown }>;
}

const benchmark = (await import(new URL('../../bench/federation/supergraph.mjs', import.meta.url).href)) as Benchmark;
const names = Object.keys(benchmark.SUBGRAPHS);
const schemas = Object.fromEntries(names.map((name) => [name, benchmark.buildSchema(name)]));
const sdl = benchmark.compose(Object.fromEntries(names.map((name) => [name, `http://${name}/`])));
const executors: Record<string, Executor> = {
  objects: OBJECT_EXECUTOR,
  bytes: createBytesExecutor({ buffers: createBufferPool(1e7), arenas: new ArenaPool({ isOverwriting: true }), count: () => undefined }),
};

describe.each(Object.keys(executors))('the operation of the federation benchmark, executed with %s', (name) => {
  it.each([
    [true, 9],
    [false, 16],
  ])('has the result of graphql-js; with batches of entities (%s) it takes %i fetches', async (batchesEntities, fetches) => {
    const sent: string[] = [];
    const subgraphs: Subgraphs = async (service, { query, variables }) => {
      sent.push(service);
      const schema = schemas[service] as GraphQLSchema;
      return JSON.parse(JSON.stringify(await graphql({ schema, source: query, variableValues: variables ?? {} }))) as never;
    };
    const engine = startTrestle(sdl, subgraphs, { executor: executors[name] as Executor, batchesEntities });
    const { data, errors } = await engine.run({ query: benchmark.QUERY, variables: {} });
    expect([errors, sent.length]).toEqual([[], fetches]);
    expect(data).toEqual(JSON.parse(JSON.stringify((await benchmark.expectedResult()).data)));
  });
});
