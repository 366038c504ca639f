import { afterEach, describe, expect, it } from '@jest/globals';
import type { Socket } from 'node:net';
import { until } from '@trestle/http-client/raw-server';
import { Registry } from 'prom-client';
import { createUpstreams } from './upstream.ts';
import { HTTP1_CLIENTS, UpstreamFixture, createContext, failure } from './test-upstream.ts';
import { DEFAULT_TRAFFIC, type SubgraphTraffic } from './traffic/traffic-settings.ts';

describe.each(HTTP1_CLIENTS)('traffic of single subgraphs by %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  it('gives one subgraph a time limit of its own, and changes it for the next request', async () => {
    const url = await fixture.listen(() => undefined);
    const addresses = { urls: new Map<string, string>(), subscriptionUrls: new Map<string, string>() };
    const traffic = (limits: Partial<SubgraphTraffic>) => ({ ...addresses, traffic: toTraffic({ client, ...limits }) });
    const upstreams = createUpstreams({ ...traffic({ timeoutMs: 60_000 }), pingIntervalMs: 10_000, metrics: new Registry() });
    const fetch = (limits: Partial<SubgraphTraffic>) =>
      new Promise((resolve) => {
        upstreams.at(traffic(limits)).open('Stock', url).send({ body: '{}', isMutation: false, context: createContext() }, resolve);
      });
    // The limit for all is 60 s, longer than this test may take.
    expect(await fetch({ timeoutMs: 200 })).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(await fetch({ timeoutMs: 300 })).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    await upstreams.close();
  });

  it('closes the connections of earlier limits after their last request, and still sends what a request in flight needs', async () => {
    const sockets = new Set<Socket>();
    let release: () => void = () => undefined;
    const url = await fixture.listen((request, response) => {
      sockets.add(request.socket);
      request.socket.once('close', () => sockets.delete(request.socket));
      const answer = () => response.setHeader('content-type', 'application/json').end('{"data":{}}');
      request.resume().on('end', () => {
        if (request.headers['x-request-id'] === 'held') release = answer;
        else answer();
      });
    });
    const registry = new Registry();
    const none = { urls: new Map<string, string>(), subscriptionUrls: new Map<string, string>() };
    const upstreams = createUpstreams({ ...none, pingIntervalMs: 10_000, metrics: registry });
    const configure = (limits: Partial<SubgraphTraffic>) => {
      const configured = upstreams.at({ ...none, traffic: toTraffic({ client, ...limits }) });
      const upstream = configured.open('Stock', url);
      const fetch = (id: string) =>
        new Promise((resolve) => {
          const context = { ...createContext(), headers: ['content-type', 'application/json', 'x-request-id', id] };
          upstream.send({ body: '{}', isMutation: false, context }, (error, result) => {
            resolve(error ?? result);
          });
        });
      return {
        fetch,
        retire: () => {
          configured.retire();
        },
      };
    };
    const first = configure({});
    const held = first.fetch('held');
    await first.fetch('free');
    const same = configure({});
    first.retire();
    // Another configuration with the same limits uses the same connections.
    await same.fetch('free');
    expect(sockets.size).toBeGreaterThan(1);
    const other = configure({ timeoutMs: 59_000 });
    const began = performance.now();
    same.retire();
    await until(() => sockets.size === 1);
    release();
    expect(await held).toEqual({ data: {} });
    expect(await first.fetch('free')).toEqual({ data: {} });
    await until(() => sockets.size === 0);
    // Idle connections to this server would be kept for a minute.
    expect(performance.now() - began).toBeLessThan(30_000);
    expect(await other.fetch('free')).toEqual({ data: {} });
    const text = await registry.metrics();
    expect(text).toMatch(/trestle_subgraph_connections_open\{subgraph="Stock"\} 1\n/);
    expect(Number(/connections_created_total\{subgraph="Stock"\} (\d+)/.exec(text)?.[1])).toBeGreaterThanOrEqual(3);
    await upstreams.close();
  });

  it('sends nothing again with 0 retries, and everything without a circuit breaker', async () => {
    let requests = 0;
    const url = await fixture.listenRaw((socket) => {
      requests++;
      socket.destroy();
    });
    const { fetch } = fixture.open(url, { limits: { retryPercent: 0, breakerFailures: 0 } });
    for (let i = 0; i < 25; i++) expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(requests).toBe(25);
  });

  it('opens the circuit of a subgraph after its own number of failures', async () => {
    let requests = 0;
    const url = await fixture.listenRaw((socket) => {
      requests++;
      socket.destroy();
    });
    const { fetch } = fixture.open(url, { limits: { retryPercent: 0, breakerFailures: 2, breakerOpenMs: 600_000 } });
    for (let i = 0; i < 5; i++) expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(requests).toBe(2);
  });

  it.each([502, 503, 504])('opens the circuit of a subgraph that answers %i', async (status) => {
    let requests = 0;
    const url = await fixture.listen((_, response) => {
      requests++;
      response.writeHead(status).end();
    });
    const { fetch } = fixture.open(url, { limits: { breakerFailures: 2, breakerOpenMs: 600_000 } });
    for (let i = 0; i < 5; i++) expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(requests).toBe(2);
  });

  it('keeps the circuit closed after responses that are too large', async () => {
    let requests = 0;
    const url = await fixture.listen((_, response) => {
      requests++;
      response.setHeader('x-large', 'x'.repeat(100_000)).end();
    });
    const { fetch } = fixture.open(url, { limits: { breakerFailures: 2, breakerOpenMs: 600_000 } });
    for (let i = 0; i < 5; i++) expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
    expect(requests).toBe(5);
  });

  it('sends no more than the allowed requests, and no mutation either; the circuit stays closed', async () => {
    let requests = 0;
    const url = await fixture.listen((_, response) => {
      requests++;
      response.setHeader('content-type', 'application/json').end('{"data":{}}');
    });
    const { fetch } = fixture.open(url, { limits: { requestsPerSecond: 3, breakerFailures: 1, breakerOpenMs: 600_000 } });
    const tryFetch = (isMutation = false) => fetch('{}', createContext(), isMutation).catch((error: unknown) => error);
    const results = [];
    for (let i = 0; i < 100; i++) results.push(await tryFetch(i % 2 === 1));
    const refused = results.filter((result) => (result as { code?: string }).code === 'SERVICE_UNAVAILABLE');
    expect(requests).toBeGreaterThanOrEqual(3);
    expect(refused.length).toBe(100 - requests);
    expect(refused.at(-1)).toMatchObject({ message: 'The limit of requests to the subgraph Stock is reached. Retry later.' });
    while (!('data' in ((await tryFetch()) as object))) await new Promise(setImmediate);
  });

  it('refuses responses that are larger than the subgraph may send', async () => {
    let length = 1024;
    const url = await fixture.listen((_, response) => {
      response.setHeader('content-type', 'application/json').end(`{"data":{"a":"${'x'.repeat(length)}"}}`);
    });
    const { fetch } = fixture.open(url, { limits: { maxResponseBytes: 8192 } });
    expect(await fetch('{}')).toMatchObject({ data: { a: 'x'.repeat(1024) } });
    length = 8192;
    expect(await failure(fetch('{}'))).toMatchObject({ code: 'UPSTREAM_ERROR' });
  });

  it('opens no more connections than the subgraph may have', async () => {
    let open = 0;
    let most = 0;
    const url = await fixture.listen((request, response) => {
      request.resume().on('end', () => {
        most = Math.max(most, ++open);
        setImmediate(() => {
          open--;
          response.setHeader('content-type', 'application/json').end('{"data":{}}');
        });
      });
    });
    const { fetch } = fixture.open(url, { limits: { maxConnections: 2 } });
    await Promise.all(Array.from({ length: 20 }, () => fetch('{}')));
    expect(most).toBeLessThanOrEqual(2);
  });
});

/** Returns these limits for the subgraph of the fixture. */
function toTraffic(limits: Partial<SubgraphTraffic>) {
  return { all: { ...DEFAULT_TRAFFIC, timeoutMs: 60_000 }, bySubgraph: new Map([['stock', limits]]) };
}
