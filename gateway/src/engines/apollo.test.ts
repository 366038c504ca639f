import { describe, expect, it } from '@jest/globals';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { Registry } from 'prom-client';
import type { AccessOf } from '../access/callers.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { createApolloEngine } from './apollo.ts';

process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';

const lines: string[] = [];

/** Executes one operation for a caller whose rights cannot be determined. */
async function execute(sdl: string, query: string): Promise<unknown> {
  const { supergraphSdl = '' } = composeServices([{ name: 'one', url: 'http://one.invalid/', typeDefs: parse(sdl) }]);
  const write = () => undefined;
  const log = { debug: write, info: write, warn: write, access: write, error: (message: string) => void lines.push(message) };
  const accessOf: AccessOf = () => {
    throw new Error('broken');
  };
  const upstreams = { open: () => ({}), close: () => Promise.resolve() } as unknown as Upstreams;
  const subgraphErrors = {} as never;
  const options = { supergraphSdl, upstreams, limits: DEFAULT_LIMITS, log, metrics: new Registry(), subgraphErrors, accessOf };
  const engine = await createApolloEngine(options);
  const quota = { take: (_: number, done: () => void) => setImmediate(done) };
  const context = { requestId: 'r1', quota, caller: null };
  const { bytes } = await new Promise<OperationResult>((resolve) => {
    engine.execute({ query, operationName: undefined, variables: {}, context, reports: {} } as unknown as OperationRequest, resolve);
  });
  await engine.stop();
  return JSON.parse(bytes.toString());
}

describe('the engine apollo', () => {
  it('returns INTERNAL_ERROR when an operation fails after Redis has counted it', async () => {
    expect(await execute('type Query { a: Int }', '{ a }')).toMatchObject({
      errors: [{ extensions: { code: 'INTERNAL_ERROR', requestId: 'r1' } }],
    });
    expect(lines).toEqual(['request failed']);
  });

  it.each(['id', '__typename'])(
    'refuses the alias `%s`, under which @apollo/gateway would send the value of another field',
    async (alias) => {
      const sdl = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])
      type Query { user: User } type User @key(fields: "id") { id: ID! name: String }`;
      expect(await execute(sdl, `{ user { ${alias}: name } }`)).toMatchObject({
        errors: [
          {
            message: `The engine "apollo" cannot execute the alias "${alias}", a name that the gateway selects itself. Use another alias.`,
            locations: [{ line: 1, column: 10 }],
            extensions: { code: 'VALIDATION_ERROR' },
          },
        ],
      });
    },
  );
});
