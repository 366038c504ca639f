/** Extensions of the gateway: their hooks at each stage, over HTTP and WebSocket, and what happens when one fails. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

async function* twoTicks() {
  for (const tick of [1, 2]) yield await Promise.resolve({ tick });
}

const SOURCES = {
  books: {
    sdl: 'type Query { book: Book slow: Int } type Mutation { add: Int } type Book @key(fields: "id") { id: ID! title: String } type Subscription { tick: Int }',
    resolvers: {
      Query: { book: () => ({ id: '1', title: 'Emma' }), slow: () => 1 },
      Mutation: { add: () => 1 },
      Subscription: { tick: { subscribe: twoTicks } },
    },
  },
  reviews: {
    sdl: 'type Book @key(fields: "id") { id: ID! stars: Int }',
    resolvers: { Book: { __resolveReference: ({ id }: { id: string }) => ({ id, stars: 5 }) } },
  },
};

/** Writes each call of a hook to a file, and does what the header `x-do` of a request says. */
const MODULE = `
import { appendFileSync } from 'node:fs';
const note = (hook, facts) => appendFileSync(new URL('calls.jsonl', import.meta.url), JSON.stringify({ hook, ...facts }) + '\\n');
const act = async (hook, event) => {
  const [at, what] = (event.request?.headers['x-do'] ?? '').split(' ');
  if (at !== hook) return;
  if (what === 'refuse') event.refuse('FORBIDDEN', 'Refused by the test.');
  if (what === 'throw') throw new Error('secret-of-the-extension');
  if (what === 'reject') await Promise.reject(new Error('secret-of-the-extension'));
  if (what === 'hang') await new Promise(() => undefined);
  if (what === 'wait') await new Promise((resolve) => setTimeout(resolve, 5));
  if (what === 'header') event.setResponseHeader('content-length', '1');
  if (what === 'code') event.refuse('TEAPOT', 'x');
};
const first = {
  name: 'first',
  onRequest: (event) => { note('onRequest', { transport: event.request.transport, caller: event.request.caller === undefined }); event.request.state.set('seen', 1); return act('onRequest', event); },
  onContext: (event) => { note('onContext', { caller: event.request.caller, seen: event.request.state.get('seen') }); event.setSubgraphHeader('X-Tenant', 'acme'); return act('onContext', event); },
  onOperation: (event) => { note('onOperation', { query: event.query, variables: event.variables }); return act('onOperation', event); },
  onPlan: (event) => { note('onPlan', { kind: event.operationKind, name: event.operationName, fetches: event.listFetches().map(({ subgraph }) => subgraph) }); return act('onPlan', event); },
  onSubscribe: (event) => { note('onSubscribe', {}); return act('onSubscribe', event); },
  onSubgraphRequest: (event) => { note('onSubgraphRequest', { subgraph: event.subgraph }); event.setHeader('X-Signed', String(event.body.length)); return act('onSubgraphRequest', event); },
  onSubgraphResponse: (event) => { note('onSubgraphResponse', { subgraph: event.subgraph, status: event.status, failure: event.failure, type: event.header('content-type') }); if ((event.request?.headers['x-do'] ?? '') === 'onSubgraphResponse throw') throw new Error('observed'); },
  onResponse: (event) => { note('onResponse', { outcome: event.outcome, body: event.readBody() }); event.setResponseHeader('X-Served-By', 'test'); return act('onResponse', event); },
  onEvent: ({ subscribers, readBody }) => { note('onEvent', { subscribers, body: readBody() }); },
  onStop: () => note('onStop', {}),
};
const second = { name: 'second', onRequest: () => note('second', {}) };
export default async () => [first, second];
`;

let folder: string;
let federation: Federation;

interface Call {
  readonly hook: string;
  readonly [fact: string]: unknown;
}

const file = (name: string) => join(folder, name);
const readCalls = async (): Promise<Call[]> =>
  (await readFile(file('calls.jsonl'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call);
const hooksOf = (calls: readonly Call[]) => calls.map(({ hook }) => hook);
const act = (what: string, query = '{ book { title } }') => federation.ask(query, undefined, { 'x-do': what });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-extensions-'));
  await writeFile(file('extensions.mjs'), MODULE);
  await writeFile(file('documents.json'), JSON.stringify({ clients: [{ documents: { title: 'query Title { book { title } }' } }] }));
  const env = {
    EXTENSIONS_FILE: file('extensions.mjs'),
    EXTENSION_TIMEOUT_MS: '200',
    MCP: 'on',
    TRUSTED_DOCUMENTS_FILE: file('documents.json'),
  };
  federation = await startFederation(SOURCES, { env });
});
afterAll(async () => {
  await federation.stop();
  expect(hooksOf(await readCalls())).toContain('onStop');
  await rm(folder, { recursive: true, force: true });
});
beforeEach(async () => {
  await writeFile(file('calls.jsonl'), '');
  federation.received.length = 0;
});

describe('the hooks of a query', () => {
  it('are called in the order of the stages, of each extension in turn', async () => {
    const { status, body } = await federation.ask('query Q($a: Boolean = true) { book { title stars @include(if: $a) } }', { a: true });
    expect([status, body.data]).toEqual([200, { book: { title: 'Emma', stars: 5 } }]);
    const calls = await readCalls();
    const fetch = ['onSubgraphRequest', 'onSubgraphResponse'];
    expect(hooksOf(calls)).toEqual(['onRequest', 'second', 'onContext', 'onOperation', 'onPlan', ...fetch, ...fetch, 'onResponse']);
    expect(calls[0]).toMatchObject({ transport: 'http', caller: true });
    expect(calls[2]).toMatchObject({ caller: null, seen: 1 });
    expect(calls[3]).toMatchObject({ variables: { a: true } });
    expect(calls[4]).toMatchObject({ kind: 'query', name: 'Q', fetches: ['books', 'reviews'] });
    expect(calls[6]).toMatchObject({ subgraph: 'books', status: 200, type: 'application/json' });
    expect(calls.at(-1)).toMatchObject({ outcome: 'complete', body: JSON.stringify(body) });
  });

  it('set headers of every fetch, of one fetch and of the response', async () => {
    const { headers } = await federation.ask('{ book { title stars } }');
    expect(headers.get('x-served-by')).toBe('test');
    expect(federation.received.map(({ headers: sent }) => sent['x-tenant'])).toEqual(['acme', 'acme']);
    const lengths = federation.received.map(({ headers: sent }) => [sent['x-signed'], sent['content-length']]);
    for (const [signed, length] of lengths) expect(signed).toBe(length);
  });

  it('are waited for', async () => {
    for (const hook of ['onRequest', 'onContext', 'onOperation', 'onPlan', 'onSubgraphRequest', 'onResponse'])
      expect((await act(`${hook} wait`)).body.data).toEqual({ book: { title: 'Emma' } });
  });

  it('see a refused operation, and a subgraph that fails', async () => {
    await federation.ask('{ unknown }');
    expect((await readCalls()).at(-1)).toMatchObject({ hook: 'onResponse', outcome: 'refused' });
    await federation.halt('reviews');
    await federation.ask('{ book { title stars } }');
    await federation.revive('reviews');
    const calls = await readCalls();
    expect(calls.filter(({ hook }) => hook === 'onSubgraphResponse').at(-1)).toMatchObject({
      subgraph: 'reviews',
      failure: 'UPSTREAM_ERROR',
    });
  });
});

describe('a hook that refuses', () => {
  const STAGES = ['onRequest', 'onContext', 'onOperation', 'onPlan', 'onResponse'];

  it.each(STAGES)('%s answers with its code, and sends nothing more', async (hook) => {
    const { status, body } = await act(`${hook} refuse`);
    expect(status).toBe(403);
    expect(body.errors).toMatchObject([{ message: 'Refused by the test.', extensions: { code: 'FORBIDDEN' } }]);
    expect(federation.received).toHaveLength(hook === 'onResponse' ? 1 : 0);
  });

  it('onSubgraphRequest fails the fetch only', async () => {
    const { body } = await act('onSubgraphRequest refuse');
    expect(body.data).toEqual({ book: null });
    expect(body.errors).toMatchObject([{ path: ['book'], extensions: { code: 'FORBIDDEN', service: 'books' } }]);
    expect(federation.received).toEqual([]);
  });

  it('prevents a mutation', async () => {
    const { status } = await act('onPlan refuse', 'mutation { add }');
    expect([status, federation.received]).toEqual([403, []]);
  });
});

describe('a hook that fails', () => {
  it.each(['throw', 'reject', 'header', 'code'])('by %s refuses with INTERNAL_ERROR and shows nothing of the reason', async (what) => {
    for (const hook of ['onRequest', 'onContext', 'onOperation', 'onPlan', 'onResponse']) {
      const { status, text, body } = await act(`${hook} ${what}`);
      expect([status, body.errors?.[0]?.extensions['code']]).toEqual([500, 'INTERNAL_ERROR']);
      expect(text).not.toContain('secret-of-the-extension');
    }
  });

  it('by taking too long refuses with SERVICE_UNAVAILABLE, and is counted', async () => {
    const { origin } = new URL(federation.url);
    const name = 'trestle_extension_failures_total{extension="first",hook="onPlan"}';
    const before = await readMetric(origin, name);
    const { status, body } = await act('onPlan hang');
    expect([status, body.errors?.[0]?.extensions['code']]).toEqual([503, 'SERVICE_UNAVAILABLE']);
    expect(await readMetric(origin, name)).toBe(before + 1);
  });

  it('and only observes changes nothing', async () => {
    expect((await act('onSubgraphResponse throw')).body).toEqual({ data: { book: { title: 'Emma' } } });
  });
});

describe('the hooks of a WebSocket', () => {
  it('are called for each operation, and for each event once', async () => {
    const subscriber = subscribeTo(new URL(federation.url).origin, { query: 'subscription { tick }' });
    await subscriber.wait(2);
    await subscriber.end();
    const calls = await readCalls();
    expect(hooksOf(calls)).toEqual(['onRequest', 'second', 'onContext', 'onOperation', 'onPlan', 'onSubscribe', 'onEvent', 'onEvent']);
    expect(calls[0]).toMatchObject({ transport: 'websocket' });
    expect(calls.slice(-2)).toMatchObject([
      { subscribers: 1, body: '{"data":{"tick":1}}' },
      { subscribers: 1, body: '{"data":{"tick":2}}' },
    ]);
    // The header of onContext identifies the caller to the subgraph.
    expect(federation.received.at(-1)?.headers['x-tenant']).toBe('acme');
  });

  it.each(['onRequest', 'onContext', 'onOperation', 'onPlan', 'onSubscribe'])('%s refuses a subscription', async (hook) => {
    const subscriber = subscribeTo(new URL(federation.url).origin, {
      query: 'subscription { tick }',
      headers: { 'x-do': `${hook} refuse` },
    });
    expect(await subscriber.end()).toEqual({ codes: ['FORBIDDEN'] });
    await subscriber.stop();
  });
});

describe('the hooks of a tool call at /mcp', () => {
  const callTool = (what: string) => {
    const { origin } = new URL(federation.url);
    const headers = { accept: 'application/json, text/event-stream', 'x-do': what };
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'Title', arguments: {} } };
    return request(`${origin}/mcp`, { method: 'POST', headers, body });
  };

  it('are those of the same operation', async () => {
    expect((await callTool('')).status).toBe(200);
    const fetch = ['onSubgraphRequest', 'onSubgraphResponse'];
    expect(hooksOf(await readCalls())).toEqual(['onRequest', 'second', 'onContext', 'onOperation', 'onPlan', ...fetch, 'onResponse']);
  });

  it.each(['onRequest', 'onContext', 'onOperation', 'onPlan', 'onResponse'])('%s refuses it', async (hook) => {
    const { text } = await callTool(`${hook} refuse`);
    expect(text).toContain('FORBIDDEN');
    expect(text).not.toContain('Emma');
  });
});

it('a client that disconnects while a hook is waited for ends its request only', async () => {
  const abort = new AbortController();
  const { url } = federation;
  const headers = { 'content-type': 'application/json', 'x-do': 'onRequest hang' };
  const sent = fetch(url, { method: 'POST', headers, body: '{"query":"{ slow }"}', signal: abort.signal }).catch(() => undefined);
  await until(async () => hooksOf(await readCalls()).includes('onRequest'));
  abort.abort();
  await sent;
  expect((await federation.ask('{ slow }')).body).toEqual({ data: { slow: 1 } });
});

describe('a module that cannot be used', () => {
  const CASES: readonly [string, string, string][] = [
    ['has no export', 'export const a = 1;', 'must have extensions as its default export'],
    ['has no name', 'export default {};', 'must have a name'],
    ['has an unknown hook', "export default { name: 'a', onRequests() {} };", 'a.onRequests is no hook'],
    ['has a hook with wrong case', "export default { name: 'a', onPlan() {}, OnContext() {} };", 'did you mean `onContext`?'],
    ['has a misspelt hook in a class', "class A { name = 'a'; OnPlan() {} }; export default new A();", 'a.OnPlan is no hook'],
    ['has no hook', "export default { name: 'a', one: 1 };", 'a has no hook'],
    ['has a hook that is no function', "export default { name: 'a', onPlan: 1 };", 'a.onPlan must be a function'],
    ['throws', "throw new Error('broken');", 'broken'],
    ['exports a promise that never settles', 'export default () => new Promise(() => undefined);', 'has not loaded within 10 s'],
    ['waits for ever', "await new Promise(() => undefined); export default { name: 'a', onPlan() {} };", 'has not loaded within 10 s'],
    ['is no JavaScript', 'export default {', 'Unexpected end of input'],
  ];

  it.each(CASES)('ends the start with the reason: it %s', async (_, source, reason) => {
    await writeFile(file('bad.mjs'), source);
    await writeFile(file('supergraph.graphql'), federation.supergraphSdl);
    const started = startGateway(['--supergraph', file('supergraph.graphql'), '--port', '0', '--auth', 'off'], {
      EXTENSIONS_FILE: file('bad.mjs'),
    });
    await expect(started).rejects.toThrow(reason);
  });
});
