/** The coprocessor: a server of its own that the gateway calls with JSON at chosen stages. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = { books: { sdl: 'type Query { title: String }', resolvers: { Query: { title: () => 'Emma' } } } };
const STAGES = ['onRequest', 'onContext', 'onOperation', 'onPlan', 'onSubgraphRequest', 'onResponse'];

interface Call {
  readonly version: number;
  readonly stage: string;
  readonly request: { readonly id: string; readonly headers: Record<string, string> };
  readonly caller?: unknown;
  readonly context: Record<string, unknown>;
  readonly [fact: string]: unknown;
}

let server: Server;
let federation: Federation;
let calls: Call[];
/** Answers the calls of a test; returns undefined for 204. */
let answer: (call: Call, response: ServerResponse, request: IncomingMessage) => unknown;

beforeAll(async () => {
  server = createServer((request, response) => {
    void json(request).then((body) => {
      const call = body as Call;
      calls.push(call);
      const given = answer(call, response, request);
      if (response.writableEnded || given === response) return;
      response.statusCode = given === undefined ? 204 : 200;
      response.end(typeof given === 'string' ? given : given && JSON.stringify(given));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const env = {
    COPROCESSOR_URL: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hooks`,
    COPROCESSOR_STAGES: STAGES.join(','),
    COPROCESSOR_HEADERS: 'x-team',
    EXTENSION_TIMEOUT_MS: '300',
  };
  federation = await startFederation(SOURCES, { env });
});
afterAll(async () => {
  await federation.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  calls = [];
  answer = () => undefined;
  federation.received.length = 0;
});

const ask = () => federation.ask('query Title { title }', undefined, { 'x-team': 'blue', 'x-other': 'hidden', cookie: 'secret=1' });
/** Answers the calls of one stage. */
const at = (stage: string, given: unknown) => (call: Call) => (call.stage === stage ? given : undefined);

it('is called at its stages in order, and gets the headers that the settings name', async () => {
  expect((await ask()).body).toEqual({ data: { title: 'Emma' } });
  expect(calls.map(({ stage }) => stage)).toEqual(STAGES);
  expect(new Set(calls.map(({ request }) => request.id)).size).toBe(1);
  for (const { version, request } of calls) expect([version, request.headers]).toEqual([1, { 'x-team': 'blue' }]);
  expect(JSON.stringify(calls)).not.toContain('secret');
  expect(calls[3]).toMatchObject({ operationKind: 'query', operationName: 'Title', fetches: [{ subgraph: 'books' }] });
  expect(calls[5]).toMatchObject({ caller: null, outcome: 'complete', body: '{"data":{"title":"Emma"}}' });
});

it('sets headers of fetches and of the response, and keeps values between its calls', async () => {
  answer = ({ stage, context }) => {
    if (stage === 'onRequest') return { context: { tenant: 'acme' } };
    if (stage === 'onContext') return { subgraphHeaders: { 'x-tenant': context['tenant'] } };
    if (stage === 'onSubgraphRequest') return { subgraphHeaders: { 'x-once': '1' } };
    return stage === 'onResponse' ? { responseHeaders: { 'x-tenant': context['tenant'] } } : undefined;
  };
  const { headers } = await ask();
  expect(headers.get('x-tenant')).toBe('acme');
  expect(federation.received[0]?.headers).toMatchObject({ 'x-tenant': 'acme', 'x-once': '1' });
});

it('replaces an operation and a result, also when it sends back all that it got', async () => {
  const large = JSON.stringify({ data: { title: 'x'.repeat(100_000) } });
  answer = (call) => {
    if (call.stage === 'onOperation') return { ...call, query: 'query Other { other: title }', operationName: 'Other' };
    return call.stage === 'onResponse' ? { ...call, body: large } : undefined;
  };
  expect((await ask()).body).toEqual(JSON.parse(large));
  expect(calls.at(-1)).toMatchObject({ operationName: 'Other', body: '{"data":{"other":"Emma"}}' });
});

it.each(STAGES.filter((stage) => stage !== 'onSubgraphRequest'))('refuses a request at %s', async (stage) => {
  answer = at(stage, { refuse: { code: 'FORBIDDEN', message: 'Not in this region.' } });
  const { status, body } = await ask();
  expect(status).toBe(403);
  expect(body.errors).toMatchObject([{ message: 'Not in this region.', extensions: { code: 'FORBIDDEN' } }]);
});

describe('answers that cannot be used', () => {
  const UNUSABLE: readonly [string, unknown][] = [
    ['text', 'no JSON'],
    ['a list', []],
    ['more than 64 KiB', { context: { large: 'x'.repeat(70_000) } }],
  ];
  it.each(UNUSABLE)('refuse the request with SERVICE_UNAVAILABLE: %s', async (_, given) => {
    answer = at('onPlan', given);
    const { status, body } = await ask();
    expect([status, body.errors?.[0]?.extensions['code']]).toEqual([503, 'SERVICE_UNAVAILABLE']);
  });

  const WRONG: readonly [string, unknown][] = [
    ['a misspelt member', { refused: { code: 'FORBIDDEN' } }],
    ['an unknown code', { refuse: { code: 'TEAPOT' } }],
    ['a header of the message', { responseHeaders: { 'content-length': '1' } }],
    ['a header with a line break', { responseHeaders: { 'x-a': 'a\r\nb: c' } }],
    ['a header that is no string', { responseHeaders: { 'x-a': 1 } }],
    ['headers of fetches at another stage', { subgraphHeaders: { 'x-a': '1' } }],
    ['a result at another stage', { body: '{"data":null}' }],
  ];
  it.each(WRONG)('refuse the request with INTERNAL_ERROR: %s', async (_, given) => {
    answer = at('onPlan', given);
    const { status, body } = await ask();
    expect([status, body.errors?.[0]?.extensions['code']]).toEqual([500, 'INTERNAL_ERROR']);
  });
});

describe('a coprocessor that does not answer', () => {
  const failing: readonly [string, (call: Call, response: ServerResponse, request: IncomingMessage) => unknown][] = [
    ['hangs', (_, response) => response],
    [
      'fails',
      (_, response) => {
        response.statusCode = 500;
        response.end();
      },
    ],
    [
      'disconnects',
      (_, response, request) => {
        request.socket.destroy();
        return response;
      },
    ],
  ];
  it.each(failing)('refuses requests with SERVICE_UNAVAILABLE while it %s, and serves afterwards', async (_, fails) => {
    answer = fails;
    expect((await ask()).status).toBe(503);
    answer = () => undefined;
    expect((await ask()).status).toBe(200);
  });
});
