import { afterEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { UPSTREAM_CLIENTS, createUpstreams } from './upstream.ts';
import { UpstreamFixture, createContext, failure } from './test-upstream.ts';
import { DEFAULT_TRAFFIC, type SubgraphTraffic } from './traffic-settings.ts';

describe.each(UPSTREAM_CLIENTS)('traffic of single subgraphs by %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  it('gives one subgraph a time limit of its own, and changes it for the next request', async () => {
    const url = await fixture.listen(() => undefined);
    const addresses = { urls: new Map<string, string>(), subscriptionUrls: new Map<string, string>() };
    const traffic = (limits: Partial<SubgraphTraffic>) => ({ ...addresses, traffic: toTraffic(limits) });
    const upstreams = createUpstreams({ client, ...traffic({ timeoutMs: 60_000 }), pingIntervalMs: 10_000, metrics: new Registry() });
    const fetch = (limits: Partial<SubgraphTraffic>) =>
      new Promise((resolve) => {
        upstreams.at(traffic(limits)).open('Stock', url).send({ body: '{}', isMutation: false, context: createContext() }, resolve);
      });
    // The limit for all is 60 s, longer than this test may take.
    expect(await fetch({ timeoutMs: 200 })).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
    expect(await fetch({ timeoutMs: 300 })).toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
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
