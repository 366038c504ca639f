/** What an operator can forbid or limit beside the limits of operations: mutations, texts of trusted documents, requests to a subgraph. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Answer, type Federation, startFederation } from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

const SOURCES = {
  greetings: {
    sdl: 'type Query { hello: String me: Person } type Mutation { bow: String } type Person @key(fields: "id") { id: ID! }',
    resolvers: { Query: { hello: () => 'Hello', me: () => ({ id: '1' }) }, Mutation: { bow: () => 'bowed' } },
  },
  names: {
    sdl: 'type Person @key(fields: "id") { id: ID! name: String }',
    resolvers: { Person: { __resolveReference: () => ({ id: '1' }), name: () => 'Ada' } },
  },
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-restrictions-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const codesOf = ({ errors = [] }: Answer) => errors.map(({ extensions }) => extensions['code']);

describe.each(['trestle', 'apollo'])('with limits.mutations: false, the engine %s', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(SOURCES, { args: ['--auth', 'off', '--engine', engine], env: { MUTATIONS: 'off' } });
  });
  afterAll(() => federation.stop());

  it('refuses mutations, and sends nothing to a subgraph', async () => {
    const { status, body } = await federation.ask('mutation { bow }');
    expect([status, codesOf(body), body.errors?.[0]?.message]).toEqual([400, ['VALIDATION_ERROR'], 'Mutations have been disabled.']);
    expect((await federation.ask('query A { hello } mutation B { bow }')).status).toBe(400);
    expect(federation.received).toEqual([]);
  });

  it('answers queries, and describes mutations in the schema', async () => {
    expect((await federation.ask('{ hello __schema { mutationType { name } } }')).body.data).toEqual({
      hello: 'Hello',
      __schema: { mutationType: { name: 'Mutation' } },
    });
  });
});

describe('with limits.mutations: false', () => {
  it('refuses mutations over a WebSocket too', async () => {
    const federation = await startFederation(SOURCES, { args: ['--auth', 'off'], env: { MUTATIONS: 'off' } });
    const subscriber = subscribeTo(federation.gateway.url, { query: 'mutation { bow }' });
    expect(await subscriber.end()).toEqual({ codes: ['VALIDATION_ERROR'] });
    await subscriber.stop();
    await federation.stop();
  });
});

describe('with documents.requireId', () => {
  it('executes trusted documents by their ids, and refuses their texts', async () => {
    const file = join(folder, 'documents.json');
    await writeFile(file, JSON.stringify({ hello: '{ hello }' }));
    const env = { TRUSTED_DOCUMENTS_FILE: file, TRUSTED_DOCUMENTS_ONLY: 'on', TRUSTED_DOCUMENTS_REQUIRE_ID: 'on' };
    const federation = await startFederation(SOURCES, { args: ['--auth', 'off'], env });
    const post = async (body: object) => {
      const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
      const response = await fetch(federation.url, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as Answer };
    };
    expect(await post({ documentId: 'hello' })).toMatchObject({ status: 200, body: { data: { hello: 'Hello' } } });
    const refused = await post({ query: '{ hello }' });
    expect([refused.status, codesOf(refused.body)]).toEqual([403, ['FORBIDDEN']]);
    await federation.stop();
  });
});

describe('with traffic.requestsPerSecond of a subgraph', () => {
  let federation: Federation;
  const file = () => join(folder, 'trestle.yaml');
  const limit = (perSecond: number) =>
    writeFile(file(), `subgraphs: { names: { traffic: { requestsPerSecond: ${String(perSecond)} } } }\n`);
  beforeEach(async () => {
    await limit(1);
    federation = await startFederation(SOURCES, { args: ['--auth', 'off', '--config', file()] });
  });
  afterEach(() => federation.stop());

  it('nulls the fields of that subgraph beyond the limit, each with SERVICE_UNAVAILABLE, and the others are there', async () => {
    let refused: Answer | undefined;
    await until(async () => {
      const { body } = await federation.ask('{ hello me { id name } }');
      if (body.errors) refused = body;
      return refused !== undefined;
    });
    expect(refused?.data).toEqual({ hello: 'Hello', me: { id: '1', name: null } });
    expect(refused?.errors).toMatchObject([
      {
        message: 'The limit of requests to the subgraph names is reached. Retry later.',
        path: ['me', 'name'],
        extensions: { code: 'SERVICE_UNAVAILABLE', service: 'names' },
      },
    ]);
  });

  it('applies a changed limit without a restart', async () => {
    await limit(0);
    await until(async () => {
      const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => federation.ask(`query Q${String(i)} { me { name } }`)));
      return replies.every(({ body }) => body.errors === undefined);
    });
  });
});
