/** Against real HTTP servers. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { createTrail } from '../trail.ts';
import { type Upstreams, createUpstreams } from './upstream.ts';

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
  const upstreams = createUpstreams({ urls, timeoutMs: 300, metrics });
  opened.push(upstreams);
  return { upstream: upstreams.open('Stock', url), metrics };
}

const mutationHeaders = { 'idempotency-key': 'k', 'idempotency-scope': 'POST /payments' };
const createContext = () => ({ authorization: 'Bearer t', requestId: 'r', mutationHeaders, trail: createTrail() });
const failure = (fetched: Promise<unknown>) =>
  fetched.then(
    () => undefined,
    (error: unknown) => {
      const { message, extensions } = error as { message: string; extensions: Record<string, unknown> };
      return { message, ...extensions };
    },
  );

describe('a call to a subgraph', () => {
  it("carries the caller's own credential and the request's id, to where the settings say that the subgraph is", async () => {
    let seen: IncomingMessage['headers'] = {};
    const url = await listen((request, response) => {
      seen = request.headers;
      response.end('{"data":{"a":1}}');
    });
    const { upstream, metrics } = open('http://nowhere.invalid/graphql', new Map([['stock', url]]));
    expect(await upstream.fetch({ query: '{ a }' }, createContext())).toEqual({ data: { a: 1 } });
    expect(seen).toMatchObject({ authorization: 'Bearer t', 'x-request-id': 'r' });
    expect(await metrics.metrics()).toContain('trestle_subgraph_fetch_duration_seconds_count{subgraph="Stock",outcome="data"} 1');
  });

  it('sends nothing in place of a credential that is not there', async () => {
    let seen: IncomingMessage['headers'] = {};
    const url = await listen((request, response) => {
      seen = request.headers;
      response.end('{"data":null}');
    });
    await open(url).upstream.fetch({ query: '{ a }' }, { ...createContext(), authorization: undefined });
    expect(seen).not.toHaveProperty('authorization');
  });

  it("carries the client's Idempotency-Key with a mutation only, and leaves in the trail that the answer is a replay and how long it took", async () => {
    const seen: IncomingMessage['headers'][] = [];
    const url = await listen((request, response) => {
      seen.push(request.headers);
      response.setHeader('idempotent-replayed', seen.length === 1 ? 'false' : 'true').end('{"data":{"a":1}}');
    });
    const { upstream } = open(url);
    const context = createContext();
    await upstream.fetch({ query: '{ mutation }' }, context);
    expect(context.trail.isReplayed).toBe(false);
    const first = context.trail.durationsMs.get('Stock') ?? 0;
    await upstream.fetch({ query: 'mutation M { a }' }, context);
    expect(seen[0]).not.toHaveProperty('idempotency-key');
    expect(seen[1]).toMatchObject(mutationHeaders);
    expect(context.trail.isReplayed).toBe(true);
    expect(first).toBeGreaterThan(0);
    expect(context.trail.durationsMs.get('Stock')).toBeGreaterThan(first);
  });

  it('that is slow to begin, or to end, is UPSTREAM_TIMEOUT and names the subgraph', async () => {
    const silent = await listen(() => undefined);
    const halting = await listen((_, response) => response.write('{"data":'));
    for (const url of [silent, halting]) {
      expect(await failure(open(url).upstream.fetch({ query: '{ a }' }, createContext()))).toEqual({
        message: 'The subgraph Stock took too long',
        code: 'UPSTREAM_TIMEOUT',
        service: 'Stock',
      });
    }
  });

  it.each([
    ['is no JSON', '<html>'],
    ['is no GraphQL response', '{"ok":true}'],
    ['is cut off', '{"data":'],
  ])('whose answer %s is UPSTREAM_ERROR and tells no address', async (_, text) => {
    const url = await listen((__, response) => response.end(text));
    expect(await failure(open(url).upstream.fetch({ query: '{ a }' }, createContext()))).toEqual({
      message: 'The subgraph Stock did not answer',
      code: 'UPSTREAM_ERROR',
      service: 'Stock',
    });
  });

  it('that nobody takes is UPSTREAM_ERROR', async () => {
    const { upstream } = open('http://127.0.0.1:9/graphql');
    expect(await failure(upstream.fetch({ query: '{ a }' }, createContext()))).toMatchObject({ code: 'UPSTREAM_ERROR', service: 'Stock' });
  });
});
