/** What the gateway lets see of itself: spans in one trace with its client's and its subgraphs', and metrics whose names have a limit. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type Collector, startCollector } from '../../stack/collectors/collector.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let collector: Collector;
let federation: Federation;
beforeAll(async () => {
  collector = await startCollector();
  federation = await startFederation(
    {
      left: {
        sdl: 'type Query { thing: Thing } type Thing @key(fields: "id") { id: ID! left: Int }',
        resolvers: { Query: { thing: () => ({ id: 'x', left: 1 }) } },
      },
      right: {
        sdl: 'type Thing @key(fields: "id") { id: ID! right: Int }',
        resolvers: { Thing: { __resolveReference: (key: object) => key, right: () => 2 } },
      },
    },
    { env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint } },
  );
});
afterAll(async () => {
  await federation.stop();
  await collector.stop();
});

it('exports spans of the request, its plan, its execution, each fetch and the writing of the response, in the trace of the client', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const { body } = await federation.ask('query Both { thing { left right } }', {}, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  expect(body).toEqual({ data: { thing: { left: 1, right: 2 } } });
  const own = () => collector.spans.filter((span) => span.traceId === traceId);
  await until(() => Promise.resolve(own().length >= 6));
  const childrenOf = (parent: string | undefined) =>
    own()
      .filter(({ parentSpanId }) => parentSpanId === parent)
      .map(({ name }) => name)
      .sort();
  const named = (name: string) => own().filter((span) => span.name === name);
  const [top] = named('POST /graphql');
  expect(top?.parentSpanId).toBe('b7ad6b7169203331');
  expect(top?.attributes).toContainEqual({ key: 'graphql.operation.name', value: { stringValue: 'Both' } });
  for (const [key, stringValue] of [
    ['http.request.method', 'POST'],
    ['http.route', '/graphql'],
    ['url.scheme', 'http'],
    ['url.path', '/graphql'],
  ])
    expect(top?.attributes).toContainEqual({ key, value: { stringValue } });
  expect(childrenOf(top?.spanId)).toEqual(['GraphQL execute', 'GraphQL plan']);
  expect(childrenOf(named('GraphQL execute')[0]?.spanId)).toEqual(['GraphQL write', 'POST', 'POST']);
  const fetches = named('POST').map(({ spanId }) => spanId);
  for (const { attributes } of named('POST'))
    expect(attributes).toEqual(
      expect.arrayContaining([
        { key: 'url.full', value: { stringValue: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/graphql$/) as unknown } },
        { key: 'http.response.status_code', value: { intValue: 200 } },
      ]),
    );
  const sent = federation.received.map(({ headers }) => String(headers['traceparent']).split('-'));
  expect(sent.map(([, trace]) => trace)).toEqual([traceId, traceId]);
  expect(sent.map(([, , span]) => span).sort()).toEqual(fetches.sort());
});

it('writes neither the path nor the route of a request to a path that is not served', async () => {
  const traceId = '1af7651916cd43dd8448eb211c80319d';
  const headers = { traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  await request(`${federation.gateway.url}/people/ann`, { method: 'GET', headers });
  const own = () => collector.spans.filter((span) => span.traceId === traceId);
  await until(() => Promise.resolve(own().length > 0));
  expect(own().map(({ name, attributes }) => [name, attributes.map(({ key }) => key)])).toEqual([
    ['GET', ['http.request.method', 'http.response.status_code', 'url.scheme']],
  ]);
});

it('writes a method of HTTP into the span of an operation over a WebSocket', async () => {
  const subscriber = subscribeTo(federation.gateway.url, { query: 'query OverSocket { thing { left } }' });
  await subscriber.wait(1);
  await subscriber.stop();
  const find = () => collector.spans.find(({ name }) => name === 'WS /graphql');
  await until(() => Promise.resolve(find() !== undefined));
  for (const [key, stringValue] of [
    ['graphql.operation.name', 'OverSocket'],
    ['http.request.method', 'GET'],
    ['network.protocol.name', 'websocket'],
  ])
    expect(find()?.attributes).toContainEqual({ key, value: { stringValue } });
});

it('counts requests by operation and subgraph, with at most a hundred names', async () => {
  for (let i = 0; i < 110; i++) await federation.ask(`query Name${String(i)} { thing { left } }`);
  const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
  expect(
    new Set([...text.matchAll(/trestle_graphql_request_duration_seconds_count\{operation="([^"]+)"/g)].map(([, name]) => name)).size,
  ).toBeLessThanOrEqual(101);
  expect(text).toMatch(/operation="other",status="200"\} [1-9]/);
  expect(text).toMatch(/trestle_subgraph_fetch_duration_seconds_count\{subgraph="left",outcome="data"\} 1\d\d/);
  expect(text).toMatch(/trestle_operation_cache_total\{result="miss"\} 11\d/);
  expect(text).toMatch(/trestle_graphql_requests_in_flight 0/);
  expect(text).toContain('nodejs_eventloop_lag_p99_seconds');
});
