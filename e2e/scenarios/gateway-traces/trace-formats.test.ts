/** Trace contexts in other formats than `traceparent`: B3, Jaeger and W3C baggage, with and without an export of spans. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Collector, startCollector } from '../../stack/collectors/collector.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = { things: { sdl: 'type Query { thing: Int }', resolvers: { Query: { thing: () => 1 } } } };
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const TRACE_HEADERS = [
  'traceparent',
  'tracestate',
  'b3',
  'x-b3-traceid',
  'x-b3-spanid',
  'x-b3-sampled',
  'uber-trace-id',
  'baggage',
  'uberctx-a',
];

/** Asks, and returns the headers of the trace that the subgraph got. */
async function ask(federation: Federation, headers: Record<string, string>) {
  const { status, body } = await federation.ask('{ thing }', {}, headers);
  expect([status, body]).toEqual([200, { data: { thing: 1 } }]);
  const got = federation.received.splice(0).at(-1)?.headers ?? {};
  return Object.fromEntries(TRACE_HEADERS.flatMap((name) => (got[name] === undefined ? [] : [[name, got[name]]])));
}

describe('with telemetry.propagators and exported spans', () => {
  let collector: Collector;
  let federation: Federation;
  beforeAll(async () => {
    collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_PROPAGATORS: 'b3,jaeger,baggage' };
    federation = await startFederation(SOURCES, { env });
  });
  afterAll(async () => {
    await federation.stop();
    await collector.stop();
  });

  it.each([
    ['b3', { b3: `${TRACE}-${SPAN}-1` }],
    ['several headers of B3', { 'X-B3-TraceId': TRACE, 'X-B3-SpanId': SPAN, 'X-B3-Sampled': '1' }],
    ['uber-trace-id', { 'uber-trace-id': `${TRACE}:${SPAN}:0:1` }],
  ])('continues the trace of a client that sends %s, and sends subgraphs every format', async (_, headers) => {
    const before = collector.spans.length;
    const got = await ask(federation, { ...headers, baggage: 'tenant=acme' });
    await until(() => Promise.resolve(collector.spans.slice(before).some(({ name }) => name === 'POST /graphql')));
    const own = collector.spans.slice(before);
    expect(own.find(({ name }) => name === 'POST /graphql')).toMatchObject({ traceId: TRACE, parentSpanId: SPAN });
    const fetched = own.find(({ name }) => name === 'POST')?.spanId ?? '';
    expect(got).toEqual({ b3: `${TRACE}-${fetched}-1`, 'uber-trace-id': `${TRACE}:${fetched}:0:01`, baggage: 'tenant=acme' });
  });
});

describe('with telemetry.propagators and without an export', () => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(SOURCES, { env: { OTEL_PROPAGATORS: 'tracecontext,b3multi,jaeger,baggage' } });
  });
  afterAll(() => federation.stop());
  afterEach(() => void federation.received.splice(0));

  it('passes the trace of a client on, in every format, and nothing without one', async () => {
    expect(await ask(federation, { b3: `${TRACE}-${SPAN}-1` })).toEqual({
      traceparent: `00-${TRACE}-${SPAN}-01`,
      ...{ 'x-b3-traceid': TRACE, 'x-b3-spanid': SPAN, 'x-b3-sampled': '1' },
      'uber-trace-id': `${TRACE}:${SPAN}:0:01`,
    });
    expect(await ask(federation, { baggage: 'tenant=acme' })).toEqual({ baggage: 'tenant=acme' });
    expect(await ask(federation, {})).toEqual({});
  });

  it.each([
    { b3: '%' },
    { 'x-b3-traceid': 'x'.repeat(4000), 'x-b3-spanid': '%' },
    { 'uber-trace-id': '%E0%A4%A:1:2:3' },
    { baggage: '%=%,=,;' },
    { baggage: `a=${'x'.repeat(8192)}` },
    { baggage: Array.from({ length: 65 }, (_, i) => `k${String(i)}=1`).join(',') },
    { 'uberctx-a': '1' },
  ])('answers a request with %j, and passes nothing of it on', async (headers) => {
    expect(await ask(federation, headers as Record<string, string>)).toEqual({});
  });
});

describe('telemetry.propagators', () => {
  it('is W3C Trace Context by default: other formats are not passed on', async () => {
    const federation = await startFederation(SOURCES);
    const others = { b3: `${TRACE}-${SPAN}-1`, 'uber-trace-id': `${TRACE}:${SPAN}:0:1`, baggage: 'tenant=acme' };
    expect(await ask(federation, others)).toEqual({});
    const traceparent = `00-${TRACE}-${SPAN}-01`;
    expect(await ask(federation, { ...others, traceparent })).toEqual({ traceparent });
    await federation.stop();
  });

  it('passes nothing on with none', async () => {
    const federation = await startFederation(SOURCES, { env: { OTEL_PROPAGATORS: 'none' } });
    expect(await ask(federation, { traceparent: `00-${TRACE}-${SPAN}-01` })).toEqual({});
    await federation.stop();
  });

  it.each([
    [{ OTEL_PROPAGATORS: 'tracecontext,zipkin' }, 'OTEL_PROPAGATORS: must be among tracecontext, baggage, b3, b3multi, jaeger, none'],
    [
      { OTEL_PROPAGATORS: 'b3', FORWARD_HEADERS: 'X-B3-TraceId' },
      'FORWARD_HEADERS: must not name headers that telemetry.propagators sends',
    ],
  ])('refuses %j', async (env, message) => {
    await expect(startFederation(SOURCES, { env })).rejects.toThrow(message);
  });
});
