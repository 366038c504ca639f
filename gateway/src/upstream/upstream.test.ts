/** Against real HTTP servers. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { abort, createTrail } from '../request/trail.ts';
import { type UpstreamContext, type Upstreams, createUpstreams } from './upstream.ts';

const servers: Server[] = [];
const opened: Upstreams[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((upstreams) => upstreams.close()));
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

function open(url: string, urls = new Map<string, string>()) {
  const metrics = new Registry();
  const upstreams = createUpstreams({ liveUrls: new Map(), pingIntervalMs: 10_000, urls, timeoutMs: 300, metrics });
  opened.push(upstreams);
  const upstream = upstreams.open('Stock', url);
  const fetch = (body: string, context: UpstreamContext = createContext(), isMutation = false) =>
    new Promise((resolve, reject) => {
      upstream.send({ body, isMutation, context }, (failure, answer) => {
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors
        if (failure) reject(failure);
        else resolve(answer);
      });
    });
  return { fetch, metrics };
}

const mutationHeaders = ['idempotency-key', 'k', 'idempotency-scope', 'POST /payments'];
const headers = ['content-type', 'application/json', 'x-request-id', 'r', 'authorization', 'Bearer t'];
const createContext = () => ({ requestId: 'r', headers, mutationHeaders, trail: createTrail(), trace: undefined });
const failure = async (fetched: Promise<unknown>) => {
  try {
    await fetched;
    return undefined;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return { message, code };
  }
};

describe('a call to a subgraph', () => {
  it("carries the caller's own credential and the request's id, to where the settings say that the subgraph is", async () => {
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

  it("carries the client's Idempotency-Key with a mutation only, and leaves in the trail that the answer is a replay and how long it took", async () => {
    const seen: IncomingMessage['headers'][] = [];
    const url = await listen((request, response) => {
      seen.push(request.headers);
      response.setHeader('idempotent-replayed', seen.length === 1 ? 'false' : 'true').end('{"data":{"a":1}}');
    });
    const { fetch } = open(url);
    const context = createContext();
    await fetch('{}', context);
    expect(context.trail.isReplayed).toBe(false);
    const [first] = context.trail.durationsMs;
    await fetch('{}', context, true);
    expect(seen[0]).not.toHaveProperty('idempotency-key');
    expect(seen[1]).toMatchObject({ 'idempotency-key': 'k', 'idempotency-scope': 'POST /payments' });
    expect(context.trail.isReplayed).toBe(true);
    expect(first).toEqual(['Stock', expect.any(Number)]);
    expect(context.trail.durationsMs).toHaveLength(2);
  });

  it('that is slow to begin, or to end, is UPSTREAM_TIMEOUT and names the subgraph', async () => {
    const silent = await listen(() => undefined);
    const halting = await listen((_, response) => response.write('{"data":'));
    for (const url of [silent, halting]) {
      expect(await failure(open(url).fetch('{}'))).toEqual({
        message: 'The subgraph Stock took too long',
        code: 'UPSTREAM_TIMEOUT',
      });
    }
  });

  it.each([
    ['is no JSON', '<html>'],
    ['is no GraphQL response', '{"ok":true}'],
    ['is cut off', '{"data":'],
  ])('whose answer %s is UPSTREAM_ERROR and tells no address', async (_, text) => {
    const url = await listen((__, response) => response.end(text));
    expect(await failure(open(url).fetch('{}'))).toEqual({
      message: 'The subgraph Stock did not answer',
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
  ])('whose response %s is UPSTREAM_ERROR', async (_, status, type, text) => {
    const url = await listen((__, response) => response.writeHead(status, { 'content-type': type }).end(text));
    expect(await failure(open(url).fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it.each([
    ['application/graphql-response+json; charset=utf-8', 401],
    ['application/json;charset=utf-8', 500],
  ])('whose response is errors alone as %s with status %i hands these errors on', async (type, status) => {
    const errors = [{ message: 'no', extensions: { code: 'UNAUTHORIZED' } }];
    const url = await listen((_, response) => response.writeHead(status, { 'content-type': type }).end(JSON.stringify({ errors })));
    expect(await open(url).fetch('{}')).toEqual({ errors });
  });

  it('that nobody takes is UPSTREAM_ERROR', async () => {
    expect(await failure(open('http://127.0.0.1:9/graphql').fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('that loses its connection is made once more, unless it is a mutation or answers have begun to come', async () => {
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

  it('to a subgraph that keeps failing is not made at all for a while', async () => {
    let calls = 0;
    const url = await listen((request) => {
      calls++;
      request.socket.destroy();
    });
    const { fetch } = open(url);
    for (let i = 0; i < 40; i++) await failure(fetch('{}'));
    expect(calls).toBeLessThan(30);
  });

  it('ends when the client has gone, unless it is a mutation', async () => {
    let closed = 0;
    let arrived = 0;
    const answers: ServerResponse[] = [];
    const url = await listen((_, response) => {
      arrived++;
      answers.push(response);
      response.once('close', () => {
        if (!response.writableFinished) closed++;
      });
    });
    const { fetch } = open(url);
    const context = createContext();
    const query = failure(fetch('{}', context));
    const mutation = fetch('{}', context, true);
    await until(() => arrived === 2);
    abort(context.trail);
    expect(await query).toMatchObject({ code: 'UPSTREAM_ERROR' });
    await until(() => closed === 1);
    for (const answer of answers) answer.end('{"data":{"a":1}}');
    expect(await mutation).toEqual({ data: { a: 1 } });
  });
});

/** Looks again each turn of the event loop. */
async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
