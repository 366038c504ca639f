/** What the gateway lets see of itself: spans in one trace with its client's and its subgraphs', and metrics whose names have a limit. */
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { request, until } from '../../stack/client.ts';
import { type Federation, startFederation } from '../../stack/federation.ts';

interface Exported {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly { key: string; value: { stringValue?: string } }[];
}

const exported: Exported[] = [];
let collector: Server;
let federation: Federation;
beforeAll(async () => {
  collector = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as {
        resourceSpans: { scopeSpans: { spans: Exported[] }[] }[];
      };
      for (const { scopeSpans } of resourceSpans) for (const { spans } of scopeSpans) exported.push(...spans);
      response.setHeader('content-type', 'application/json');
      response.end('{}');
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}`;
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
    { env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } },
  );
});
afterAll(async () => {
  await federation.stop();
  collector.closeAllConnections();
  await new Promise((resolve) => collector.close(resolve));
});

it('writes spans for request, plan, each fetch and the answer, between those of the client and of the subgraphs', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const { body } = await federation.ask('query Both { thing { left right } }', {}, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
  expect(body).toEqual({ data: { thing: { left: 1, right: 2 } } });
  await until(() => Promise.resolve(exported.filter((span) => span.traceId === traceId).length >= 5));
  const own = exported.filter((span) => span.traceId === traceId);
  const top = own.find(({ name }) => name === 'request');
  expect(top?.parentSpanId).toBe('b7ad6b7169203331');
  expect(top?.attributes).toContainEqual({ key: 'graphql.operation.name', value: { stringValue: 'Both' } });
  expect(
    own
      .filter(({ parentSpanId }) => parentSpanId === top?.spanId)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['fetch', 'fetch', 'plan', 'write']);
  const fetches = own.filter(({ name }) => name === 'fetch').map(({ spanId }) => spanId);
  const sent = federation.received.map(({ headers }) => String(headers['traceparent']).split('-'));
  expect(sent.map(([, trace]) => trace)).toEqual([traceId, traceId]);
  expect(sent.map(([, , span]) => span).sort()).toEqual(fetches.sort());
});

it('counts by operation and subgraph, and by no more than a hundred names', async () => {
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
