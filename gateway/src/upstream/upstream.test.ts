/** What a fetch sends, and what metrics and the fetch log say of it, against real HTTP servers. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { until } from '@trestle/http-client/raw-server';
import { UpstreamFixture, createContext } from './test-upstream.ts';
import { UPSTREAM_CLIENTS } from './traffic/traffic-settings.ts';

const ADMIN = createTestCaller({ role: 'ADMIN' });

describe.each(UPSTREAM_CLIENTS)('a fetch from a subgraph by the client %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  it("carries the caller's credential and the request id, to the address that the settings give", async () => {
    let seen: IncomingMessage['headers'] = {};
    const url = await fixture.listen((request, response) => {
      seen = request.headers;
      response.end('{"data":{"a":1}}');
    });
    const { fetch, metrics } = fixture.open('http://nowhere.invalid/graphql', { urls: new Map([['stock', url]]) });
    expect(await fetch('{}')).toEqual({ data: { a: 1 } });
    expect(seen).toMatchObject({ authorization: 'Bearer t', 'x-request-id': 'r' });
    expect(await metrics.metrics()).toContain('trestle_subgraph_fetch_duration_seconds_count{subgraph="Stock",outcome="data"} 1');
  });

  it('counts errors in a response that is taken without being parsed', async () => {
    const url = await fixture.listen((_, response) => {
      response.end('{"errors":[{}]}');
    });
    const { fetch, metrics } = fixture.open(url, { take: () => ({ errors: [{}] }) });
    expect(await fetch('{}')).toEqual({ errors: [{}] });
    expect(await metrics.metrics()).toContain('trestle_subgraph_fetch_duration_seconds_count{subgraph="Stock",outcome="errors"} 1');
  });

  it('has the time of its response measured for its client', async () => {
    const measured: (string | undefined)[] = [];
    const url = await fixture.listen((_, response) => {
      response.end('{"data":{"a":1}}');
    });
    const { fetch } = fixture.open(url, {
      measure: (of, act) => {
        measured.push(of);
        act();
      },
    });
    expect(await fetch('{}', { ...createContext(), client: 'one' })).toEqual({ data: { a: 1 } });
    expect(measured).toEqual(['one']);
  });

  it('is counted in the metrics of connections, errors and retries of its subgraph', async () => {
    let calls = 0;
    const url = await fixture.listen((request, response) => {
      calls++;
      // By HTTP/2 only the stream of the request ends.
      if (calls === 2) request.socket.destroy();
      else response.end('{"data":{"a":1}}');
    });
    const { fetch, metrics } = fixture.open(url);
    await fetch('{}');
    await fetch('{}');
    const text = await metrics.metrics();
    expect(text).toContain('trestle_subgraph_connections_open{subgraph="Stock"} 1');
    expect(text).toContain('trestle_subgraph_connections_created_total{subgraph="Stock"} ' + (client === 'http2' ? '1' : '2'));
    expect(text).toContain('trestle_subgraph_requests_waiting{subgraph="Stock"} 0');
    expect(text).toContain('trestle_subgraph_request_errors_total{subgraph="Stock",code="CONNECTION_LOST"} 1');
    expect(text).toContain('trestle_subgraph_request_retries_total{subgraph="Stock"} 1');
  });

  it('is counted as waiting while every connection of its subgraph is in use', async () => {
    const responses: ServerResponse[] = [];
    const url = await fixture.listen((_, response) => responses.push(response));
    const { fetch, metrics } = fixture.open(url, { limits: { timeoutMs: 10_000 } });
    const all = Array.from({ length: 66 }, () => fetch('{}'));
    await until(() => responses.length === 64);
    const text = await metrics.metrics();
    expect(text).toContain('trestle_subgraph_connections_open{subgraph="Stock"} ' + (client === 'http2' ? '1' : '64'));
    expect(text).toContain('trestle_subgraph_requests_waiting{subgraph="Stock"} 2');
    for (let ended = 0; ended < all.length; ended++) {
      await until(() => responses.length > ended);
      responses[ended]?.end('{"data":{"a":1}}');
    }
    await Promise.all(all);
  });

  it('carries the Idempotency-Key for mutations only, and adds durations and replays to the fetch log', async () => {
    const seen: IncomingMessage['headers'][] = [];
    const url = await fixture.listen((request, response) => {
      seen.push(request.headers);
      response.setHeader('idempotent-replayed', seen.length === 1 ? 'false' : 'true').end('{"data":{"a":1}}');
    });
    const { fetch } = fixture.open(url);
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
    const url = await fixture.listen((_, response) => {
      response.setHeader(
        'set-cookie',
        Array.from({ length: count }, (_each, i) => `c${String(i)}=1`),
      );
      response.setHeader('x-other', 'o').end('{"data":{"a":1}}');
    });
    const { fetch } = fixture.open(url, { forwardResponseHeaders: ['set-cookie', 'x-absent'] });
    const context = createContext();
    await fetch('{}', context);
    expect(context.fetchLog.toHeaders(null)).toEqual({});
    await fetch('{}', context, true);
    expect(context.fetchLog.toHeaders(null)).toEqual({ 'set-cookie': ['c0=1', 'c1=1'] });
    count = 50;
    await fetch('{}', context, true);
    expect(context.fetchLog.toHeaders(null)['set-cookie']).toHaveLength(20);
  });
});
