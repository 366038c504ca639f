import { expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { Registry } from 'prom-client';
import type { AccessOf } from '../access/callers.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { createApolloEngine } from './apollo.ts';

process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';

it('returns INTERNAL_ERROR when an operation fails after Redis has counted it', async () => {
  const { supergraphSdl = '' } = composeServices([{ name: 'one', url: 'http://one.invalid/', typeDefs: parse('type Query { a: Int }') }]);
  const write = () => undefined;
  const lines: string[] = [];
  const log = { debug: write, info: write, warn: write, access: write, error: (message: string) => void lines.push(message) };
  const accessOf: AccessOf = () => {
    throw new Error('broken');
  };
  const upstreams = { open: () => ({}), close: () => Promise.resolve() } as unknown as Upstreams;
  const subgraphErrors = {} as never;
  const engine = await createApolloEngine({
    supergraphSdl,
    upstreams,
    limits: DEFAULT_LIMITS,
    log,
    metrics: new Registry(),
    subgraphErrors,
    accessOf,
  });
  const quota = { take: (_: number, done: () => void) => setImmediate(done) };
  const context = { requestId: 'r1', quota, caller: null };
  const { bytes } = await new Promise<OperationResult>((resolve) => {
    engine.execute(
      { query: '{ a }', operationName: undefined, variables: {}, context, reports: {} } as unknown as OperationRequest,
      resolve,
    );
  });
  expect(JSON.parse(bytes.toString())).toMatchObject({ errors: [{ extensions: { code: 'INTERNAL_ERROR', requestId: 'r1' } }] });
  expect(lines).toEqual(['request failed']);
  await engine.stop();
});
