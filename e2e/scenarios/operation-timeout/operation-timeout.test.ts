/** OPERATION_TIMEOUT_MS: how long an operation may be executed, and what its client gets then. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const HAMBURG = { code: 'HAM', name: 'Hamburg' };
const sources = {
  harbours: {
    sdl: 'type Query { harbour: Harbour } type Mutation { dredge: Harbour } type Harbour @key(fields: "code") { code: ID! name: String! }',
    resolvers: { Query: { harbour: () => HAMBURG }, Mutation: { dredge: () => HAMBURG } },
  },
  tides: {
    sdl: 'type Harbour @key(fields: "code") { code: ID! tide: Float }',
    resolvers: { Harbour: { __resolveReference: (key: object) => key, tide: () => 1.5 } },
  },
};
const LIMIT_MS = 400;
const QUERY = '{ harbour { name tide } }';

let federation: Federation;
beforeAll(async () => {
  // The limit of a fetch is longer than a test may take.
  const env = { OPERATION_TIMEOUT_MS: String(LIMIT_MS), SUBGRAPH_TIMEOUT_MS: '300000', MAX_DEFERRED: '10' };
  federation = await startFederation(sources, { env });
});
afterAll(() => federation.stop());

/** The subgraph that answers nothing until `release` is called. */
let held: string | undefined;
let release: () => void;
beforeEach(() => {
  held = undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  federation.received.length = 0;
  federation.intercept = async ({ subgraph }) => {
    if (subgraph === held) await released;
  };
});

const fetches = () => federation.received.map(({ subgraph }) => subgraph);
const TIMEOUT = { extensions: { code: 'UPSTREAM_TIMEOUT' } };

describe('an operation that exceeds its time limit', () => {
  it('ends with the fields that have arrived, and an error for the others', async () => {
    held = 'tides';
    const startedAt = performance.now();
    const { status, body } = await federation.ask(QUERY);
    expect(performance.now() - startedAt).toBeGreaterThan(LIMIT_MS - 50);
    expect([status, body.data]).toEqual([200, { harbour: { name: 'Hamburg', tide: null } }]);
    expect(body.errors).toMatchObject([{ path: ['harbour', 'tide'], ...TIMEOUT }]);
    release();
    expect((await federation.ask(QUERY)).body).toEqual({ data: { harbour: { name: 'Hamburg', tide: 1.5 } } });
  });

  it('begins no further fetch', async () => {
    held = 'harbours';
    const { body } = await federation.ask(QUERY);
    expect(body).toMatchObject({ data: { harbour: null }, errors: [{ path: ['harbour'], ...TIMEOUT }] });
    release();
    expect(fetches()).toEqual(['harbours']);
  });

  it('executes a mutation to its end, and reads nothing for it afterwards', async () => {
    // The limit passes while the mutation is executed.
    federation.intercept = () => new Promise((resolve) => setTimeout(resolve, LIMIT_MS + 100));
    const { body } = await federation.ask('mutation { dredge { name tide } }');
    expect(body.data).toEqual({ dredge: { name: 'Hamburg', tide: null } });
    expect(body.errors).toMatchObject([{ path: ['dredge', 'tide'], ...TIMEOUT }]);
    expect(fetches()).toEqual(['harbours']);
  });

  it('ends its deferred parts', async () => {
    held = 'tides';
    const { text } = await request(federation.url, {
      method: 'POST',
      body: { query: '{ harbour { name ... @defer { tide } } }' },
      headers: { accept: 'multipart/mixed, application/json' },
    });
    expect(text).toContain('{"harbour":{"name":"Hamburg"}}');
    expect(text).toContain('"code":"UPSTREAM_TIMEOUT"');
    expect(text).toContain('"hasNext":false');
    release();
  });
});
