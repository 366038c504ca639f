/** Against real HTTP servers. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, createServer as createTcpServer } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestCaller } from '@trestle/identity/test-identity';
import { Registry } from 'prom-client';
import { Cancellation } from '@trestle/service/cancellation';
import { FetchLog } from '../request/fetch-log.ts';
import type { UpstreamContext } from './fetch-attempt.ts';
import { Fixtures } from './http1/raw-server.ts';
import { UPSTREAM_CLIENTS, type UpstreamClientName, type UpstreamOptions, type Upstreams, createUpstreams } from './upstream.ts';

const servers: Server[] = [];
const opened: Upstreams[] = [];
const fixtures = new Fixtures();
afterEach(async () => {
  await Promise.all(opened.splice(0).map((upstreams) => upstreams.close()));
  await fixtures.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(handle);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
}

let client: UpstreamClientName;

/** Answers each request with bytes of the test's choice. */
async function listenRaw(answer: Answer): Promise<string> {
  const { origin } = await fixtures.listen((socket, { body }) => answer(socket, body));
  return `${origin}/graphql`;
}
type Answer = (socket: Socket, body: string) => unknown;

function open(url: string, urls = new Map<string, string>(), more: Partial<UpstreamOptions> = {}) {
  const metrics = new Registry();
  const upstreams = createUpstreams({
    client,
    subscriptionUrls: new Map(),
    pingIntervalMs: 10_000,
    urls,
    timeoutMs: 300,
    metrics,
    ...more,
  });
  opened.push(upstreams);
  const upstream = upstreams.open('Stock', url);
  const fetch = (body: string, context: UpstreamContext = createContext(), isMutation = false) =>
    new Promise((resolve, reject) => {
      upstream.send({ body, isMutation, context }, (failure, result) => {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- a failure of `send` is no Error
        if (failure) reject(failure);
        else resolve(result);
      });
    });
  return { fetch, metrics };
}

const ADMIN = createTestCaller({ role: 'ADMIN' });
const mutationHeaders = ['idempotency-key', 'k', 'idempotency-scope', 'POST /payments'];
const headers = ['content-type', 'application/json', 'x-request-id', 'r', 'authorization', 'Bearer t'];
const createContext = () => ({ headers, mutationHeaders, cancellation: new Cancellation(), fetchLog: new FetchLog() });
const failure = async (fetched: Promise<unknown>) => {
  try {
    await fetched;
    return undefined;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { message, code };
  }
};

describe.each(UPSTREAM_CLIENTS)('a fetch from a subgraph by the client %s', (name) => {
  beforeEach(() => {
    client = name;
  });

  it("carries the caller's credential and the request id, to the address that the settings give", async () => {
    let seen: IncomingMessage['headers'] = {};
    const url = await listen((request, response) => {
      seen = request.headers;
      response.end('{"data":{"a":1}}');
    });
    const { fetch, metrics } = open('http://nowhere.invalid/graphql', new Map([['stock', url]]));
    expect(await fetch('{}')).toEqual({ data: { a: 1 } });
    expect(seen).toMatchObject({ authorization: 'Bearer t', 'x-request-id': 'r' });
    expect(await metrics.metrics()).toContain('trestle_subgraph_fetch_duration_seconds_count{subgraph="Stock",outcome="data"} 1');
  });

  it('is counted in the metrics of connections, errors and retries of its subgraph', async () => {
    let calls = 0;
    const url = await listen((request, response) => {
      calls++;
      if (calls === 2) request.socket.destroy();
      else response.end('{"data":{"a":1}}');
    });
    const { fetch, metrics } = open(url);
    await fetch('{}');
    await fetch('{}');
    const text = await metrics.metrics();
    expect(text).toContain('trestle_subgraph_connections_open{subgraph="Stock"} 1');
    expect(text).toContain('trestle_subgraph_connections_created_total{subgraph="Stock"} 2');
    expect(text).toContain('trestle_subgraph_requests_waiting{subgraph="Stock"} 0');
    expect(text).toContain('trestle_subgraph_request_errors_total{subgraph="Stock",code="CONNECTION_LOST"} 1');
    expect(text).toContain('trestle_subgraph_request_retries_total{subgraph="Stock"} 1');
  });

  it('is counted as waiting while every connection of its subgraph is in use', async () => {
    const responses: ServerResponse[] = [];
    const url = await listen((_, response) => responses.push(response));
    const { fetch, metrics } = open(url, undefined, { timeoutMs: 10_000 });
    const all = Array.from({ length: 66 }, () => fetch('{}'));
    await until(() => responses.length === 64);
    const text = await metrics.metrics();
    expect(text).toContain('trestle_subgraph_connections_open{subgraph="Stock"} 64');
    expect(text).toContain('trestle_subgraph_requests_waiting{subgraph="Stock"} 2');
    for (let ended = 0; ended < all.length; ended++) {
      await until(() => responses.length > ended);
      responses[ended]?.end('{"data":{"a":1}}');
    }
    await Promise.all(all);
  });

  it('carries the Idempotency-Key for mutations only, and adds durations and replays to the fetch log', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const url = await listen((request, response) => {
      seen.push(request.headers);
      response.setHeader('idempotent-replayed', seen.length === 1 ? 'false' : 'true').end('{"data":{"a":1}}');
    });
    const { fetch } = open(url);
    const context = createContext();
    await fetch('{}', context);
    expect(context.fetchLog.toHeaders(ADMIN)).toEqual({ 'server-timing': expect.stringMatching(/^Stock;dur=[\d.]+$/) });
    await fetch('{}', context, true);
    expect(seen[0]).not.toHaveProperty('idempotency-key');
    expect(seen[1]).toMatchObject({ 'idempotency-key': 'k', 'idempotency-scope': 'POST /payments' });
    expect(context.fetchLog.toHeaders(null)).toEqual({ 'idempotent-replayed': 'true' });
  });

  it('reports the configured response headers of mutations, and at most 20 values', async () => {
    let count = 2;
    const url = await listen((_, response) => {
      response.setHeader(
        'set-cookie',
        Array.from({ length: count }, (_each, i) => `c${String(i)}=1`),
      );
      response.setHeader('x-other', 'o').end('{"data":{"a":1}}');
    });
    const { fetch } = open(url, undefined, { forwardResponseHeaders: ['set-cookie', 'x-absent'] });
    const context = createContext();
    await fetch('{}', context);
    expect(context.fetchLog.toHeaders(null)).toEqual({});
    await fetch('{}', context, true);
    expect(context.fetchLog.toHeaders(null)).toEqual({ 'set-cookie': ['c0=1', 'c1=1'] });
    count = 50;
    await fetch('{}', context, true);
    expect(context.fetchLog.toHeaders(null)['set-cookie']).toHaveLength(20);
  });

  it('fails with UPSTREAM_TIMEOUT when the response begins or ends too late', async () => {
    const silent = await listen(() => undefined);
    const halting = await listen((_, response) => response.write('{"data":'));
    for (const url of [silent, halting]) {
      expect(await failure(open(url).fetch('{}'))).toEqual({
        message: 'The subgraph Stock did not respond in time.',
        code: 'UPSTREAM_TIMEOUT',
      });
    }
  });

  it.each([
    ['is not JSON', '<html>'],
    ['is not a GraphQL response', '{"ok":true}'],
    ['is cut off', '{"data":'],
  ])('fails with UPSTREAM_ERROR without an address when the body %s', async (_, text) => {
    const url = await listen((__, response) => response.end(text));
    expect(await failure(open(url).fetch('{}'))).toEqual({
      message: 'The request to the subgraph Stock failed.',
      code: 'UPSTREAM_ERROR',
    });
  });

  // GraphQL over HTTP §6.4: "If the data entry in the response has any value other than null", the status code is of the 2xx range.
  it.each([
    ['has data and status 500', 500, 'application/json', '{"data":{"a":1}}'],
    ['has data and is a redirect', 302, 'application/json', '{"data":{"a":1}}'],
    ['has another content type', 200, 'text/html', '{"data":{"a":1}}'],
    ['has null as data and no errors', 200, 'application/json', '{"data":null}'],
    ['has null as data and an empty list of errors', 200, 'application/json', '{"data":null,"errors":[]}'],
    ['has a list as data', 200, 'application/json', '{"data":[]}'],
    ['has errors that are no list', 200, 'application/json', '{"data":{"a":1},"errors":{"message":"x"}}'],
    ['is empty', 204, 'application/json', ''],
  ])('fails with UPSTREAM_ERROR when the response %s', async (_, status, type, text) => {
    const url = await listen((__, response) => response.writeHead(status, { 'content-type': type }).end(text));
    expect(await failure(open(url).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it.each([
    ['application/graphql-response+json; charset=utf-8', 401],
    ['application/json;charset=utf-8', 500],
  ])('returns errors without data of type %s with status %i', async (type, status) => {
    const errors = [{ message: 'no', extensions: { code: 'UNAUTHORIZED' } }];
    const url = await listen((_, response) => response.writeHead(status, { 'content-type': type }).end(JSON.stringify({ errors })));
    expect(await open(url).fetch('{}')).toEqual({ errors });
  });

  it('fails with UPSTREAM_ERROR when the connection is refused', async () => {
    expect(await failure(open('http://127.0.0.1:9/graphql').fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('is retried once after a lost connection, unless it is a mutation or the response has begun', async () => {
    let calls = 0;
    const url = await listen((request, response) => {
      calls++;
      if (calls === 1) request.socket.destroy();
      else response.end('{"data":{"a":1}}');
    });
    expect(await open(url).fetch('{}')).toEqual({ data: { a: 1 } });
    expect(calls).toBe(2);
    calls = 0;
    expect(await failure(open(url).fetch('{}', createContext(), true))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(calls).toBe(1);
    let cut = 0;
    const cutting = await listen((request, response) => {
      cut++;
      response.write('{"data":', () => request.socket.destroy());
    });
    expect(await failure(open(cutting).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(cut).toBe(1);
  });

  // A server closes a connection that was idle for too long, and a request crosses that on its way.
  it('is sent again over a new connection when the kept one was closed, unless it is a mutation', async () => {
    const bodies: string[] = [];
    let isStale = false;
    const url = await listenRaw((socket, body) => {
      bodies.push(body);
      if (isStale) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 16\r\n\r\n{"data":{"a":1}}');
      isStale = !isStale;
    });
    const { fetch } = open(url);
    await fetch('"first"');
    expect(await fetch('"query"')).toEqual({ data: { a: 1 } });
    expect(await failure(fetch('"mutation"', createContext(), true))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(bodies).toEqual(['"first"', '"query"', '"query"', '"mutation"']);
  });

  it('is not sent again when a byte of the response has arrived', async () => {
    let calls = 0;
    const url = await listenRaw((socket) => {
      calls++;
      socket.write('H', () => setImmediate(() => socket.destroy()));
    });
    expect(await failure(open(url).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    // The parser of undici reports that byte as if nothing had arrived.
    expect(calls).toBe(client === 'lean' ? 1 : 2);
  });

  it('is sent again when the connection was refused, also a mutation', async () => {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const fetched = open(`http://127.0.0.1:${String(port)}/graphql`).fetch('{}', createContext(), true);
    const late = createServer((_, response) => response.end('{"data":{"a":1}}'));
    servers.push(late);
    await new Promise<void>((resolve) => late.listen(port, '127.0.0.1', resolve));
    expect(await fetched).toEqual({ data: { a: 1 } });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
  ])('asks for compression when that is on, and reads %s', async (encoding, compress) => {
    const seen: (string | undefined)[] = [];
    const url = await listen(({ headers: { 'accept-encoding': accepted } }, response) => {
      seen.push(accepted);
      response.setHeader('content-encoding', encoding).end(compress('{"data":{"a":"é"}}'));
    });
    expect(await open(url, undefined, { hasCompression: true }).fetch('{}')).toEqual({ data: { a: 'é' } });
    expect(await open(url).fetch('{}')).toEqual({ data: { a: 'é' } });
    expect(seen).toEqual(['br, gzip', undefined]);
  });

  it.each([
    ['is damaged', 'gzip', Buffer.from('{"data":{"a":1}}')],
    ['has an unknown encoding', 'zstd', Buffer.from('{"data":{"a":1}}')],
    ['decompresses to more than the limit', 'gzip', gzipSync(`{"data":{"a":"${'x'.repeat(33 * 1024 * 1024)}"}}`)],
  ])('fails with UPSTREAM_ERROR when the compressed body %s', async (_, encoding, body) => {
    const url = await listen((__, response) => response.setHeader('content-encoding', encoding).end(body));
    expect(await failure(open(url, undefined, { hasCompression: true }).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('is not sent while the circuit breaker is open', async () => {
    let calls = 0;
    const url = await listen((request) => {
      calls++;
      request.socket.destroy();
    });
    const { fetch } = open(url);
    for (let i = 0; i < 40; i++) await failure(fetch('{}'));
    expect(calls).toBeLessThan(30);
  });

  it('is aborted when the client disconnects, unless it is a mutation', async () => {
    let closed = 0;
    let arrived = 0;
    const responses: ServerResponse[] = [];
    const url = await listen((_, response) => {
      arrived++;
      responses.push(response);
      response.once('close', () => {
        if (!response.writableFinished) closed++;
      });
    });
    const { fetch } = open(url);
    const context = createContext();
    const query = failure(fetch('{}', context));
    const mutation = fetch('{}', context, true);
    await until(() => arrived === 2);
    context.cancellation.cancel();
    expect(await query).toMatchObject({ code: 'UPSTREAM_ERROR' });
    await until(() => closed === 1);
    for (const response of responses) response.end('{"data":{"a":1}}');
    expect(await mutation).toEqual({ data: { a: 1 } });
  });
});

/** Resolves when the condition holds. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
