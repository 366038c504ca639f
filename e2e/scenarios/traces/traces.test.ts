/** One trace from a REST request to its SQL statements, what each process reports of a request, and what it exports. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Collector, type ExportedSpan, startCollector } from '../../stack/collectors/collector.ts';
import { type Stack, startStack } from '../../stack/stack.ts';

const SERVER = 2;
const CLIENT = 3;

let collector: Collector;
let stack: Stack;
beforeAll(async () => {
  collector = await startCollector();
  const env = { OTEL_METRICS_EXPORTER: 'otlp', OTEL_METRIC_EXPORT_INTERVAL: '1000', OTEL_LOGS_EXPORTER: 'otlp' };
  stack = await startStack({ env: { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint } });
});
afterAll(async () => {
  await stack.stop();
  await collector.stop();
});

/** Resolves with the spans of a trace once one that has the name is there, with all spans between it and the client's own. */
async function traceWith(traceId: string, name: RegExp): Promise<readonly ExportedSpan[]> {
  const find = () => collector.spans.filter((span) => span.traceId === traceId);
  const isWhole = (spans: readonly ExportedSpan[]) =>
    spans.some((span) => name.test(span.name) && ancestry(spans, span).at(-1)?.parentSpanId === CLIENT_SPAN);
  await until(() => Promise.resolve(isWhole(find())));
  return find();
}

/** The spans from `span` up to the client's own. */
function ancestry(spans: readonly ExportedSpan[], span: ExportedSpan | undefined): readonly ExportedSpan[] {
  return span
    ? [
        span,
        ...ancestry(
          spans,
          spans.find(({ spanId }) => spanId === span.parentSpanId),
        ),
      ]
    : [];
}

const CLIENT_SPAN = 'b7ad6b7169203331';
const attribute = (span: ExportedSpan | undefined, key: string) => span?.attributes.find((each) => each.key === key)?.value;

describe('a request with a `traceparent` header', () => {
  it('is one trace from the REST request over gateway and subgraph to the SQL statement (W3C Trace Context §3)', async () => {
    const { id, token } = await stack.createAccount('Traced');
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const reply = await stack.call('GET', `/v1/users/${id}`, { token, headers: { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` } });
    expect(reply.status).toBe(200);
    const spans = await traceWith(traceId, /^SELECT /);
    const statement = spans.find(({ name }) => name.startsWith('SELECT '));
    expect(ancestry(spans, statement).map(({ service, name, kind }) => [service, name.replace(/^SELECT .*/, 'SELECT'), kind])).toEqual([
      ['trestle-users', 'SELECT', CLIENT],
      ['trestle-users', 'GraphQL execute', 1],
      ['trestle-users', 'POST /graphql', SERVER],
      ['trestle-gateway', 'POST', CLIENT],
      ['trestle-gateway', 'GraphQL execute', 1],
      ['trestle-gateway', 'POST /graphql', SERVER],
      ['trestle-rest-bridge', 'POST', CLIENT],
      ['trestle-rest-bridge', 'GET /v1/users/{id}', SERVER],
    ]);
    expect(attribute(statement, 'db.system.name')?.stringValue).toBe('postgresql');
    expect(attribute(statement, 'db.query.text')?.stringValue).toMatch(/^SELECT .*\$1/s);
  });

  it('has no id, address or credential of a person in its spans (spec §5.10)', async () => {
    const { id, token } = await stack.createAccount('Private Person');
    const traceId = '1af7651916cd43dd8448eb211c80319d';
    const headers = { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` };
    await stack.call('PATCH', `/v1/users/${id}`, { token, headers, body: { bio: 'A planted biography' } });
    const text = JSON.stringify(await traceWith(traceId, /^UPDATE /));
    for (const planted of [id, token, 'private.person@', 'planted biography']) expect(text).not.toContain(planted);
  });
});

it('forwards the trace of a client to the subgraphs when spans are not exported (W3C Trace Context §3.4)', async () => {
  const quiet = await stack.startBridge({ OTEL_EXPORTER_OTLP_ENDPOINT: '' });
  const traceId = '2af7651916cd43dd8448eb211c80319e';
  await request(`${quiet.url}/v1/products?limit=1`, { method: 'GET', headers: { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` } });
  const spans = await traceWith(traceId, /^POST \/graphql$/);
  expect(spans.find(({ parentSpanId }) => parentSpanId === CLIENT_SPAN)?.service).toBe('trestle-gateway');
});

it('counts the requests of a subgraph and writes a line in its log for each', async () => {
  const { users } = stack.subgraphs;
  const count =
    'http_server_request_duration_seconds_count{http_request_method="POST",http_route="/graphql",http_response_status_code="200"}';
  const before = await readMetric(users.url, count);
  const requestId = '3f1f7a50-1c5b-4a5c-9d3e-0f6a5b7c8d9e';
  const body = { query: 'query Named { __typename }' };
  await request(`${users.url}/graphql`, { method: 'POST', body, headers: { 'x-request-id': requestId } });
  await until(async () => (await readMetric(users.url, count)) === before + 1);
  await until(() => Promise.resolve(users.lines.some((line) => line.includes(requestId))));
  const line = JSON.parse(users.lines.find((each) => each.includes(requestId)) ?? '') as Record<string, unknown>;
  expect(line).toMatchObject({ msg: 'request', method: 'POST', route: '/graphql', status: 200, operation: 'Named' });
});

describe('the sampler of a gateway', () => {
  it('exports no trace with always_off, and with traceidratio and a share of 0, whatever the client has decided', async () => {
    const samplers: Record<string, string>[] = [
      { OTEL_TRACES_SAMPLER: 'always_off' },
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' },
    ];
    for (const [i, settings] of samplers.entries()) {
      const { url } = await stack.startGateway(settings);
      const send = async (to: string, traceId: string) => {
        const headers = { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` };
        const body = { query: '{ productsConnection(first: 1) { edges { node { id } } } }' };
        expect((await request(`${to}/graphql`, { method: 'POST', body, headers })).status).toBe(200);
      };
      const [unsampled, sampled] = [`4af7651916cd43dd8448eb211c80319${String(i)}`, `5af7651916cd43dd8448eb211c80319${String(i)}`];
      await send(url, unsampled);
      await send(stack.gateway, sampled);
      // The subgraph exports in the order of requests.
      await traceWith(sampled, /^SELECT /);
      expect(collector.spans.filter(({ traceId }) => traceId === unsampled)).toEqual([]);
    }
  });

  it.each([
    ['2', 'must be at most 1'],
    ['-1', 'must be a number'],
    ['half', 'must be a number'],
  ])('is refused with a share of %s', async (share, fault) => {
    await expect(stack.startGateway({ OTEL_TRACES_SAMPLER_ARG: share })).rejects.toThrow(`OTEL_TRACES_SAMPLER_ARG: ${fault}`);
  });
});

const PROCESSES = ['trestle-rest-bridge', 'trestle-gateway', 'trestle-users', 'trestle-orders', 'trestle-content'];

describe('exported metrics', () => {
  it('are those of every process, with the names of the HTTP conventions', async () => {
    await stack.call('GET', '/v1/products');
    const findDurations = (service: string) =>
      collector.metrics.filter((each) => each.service === service && each.name === 'http.server.request.duration');
    for (const [service, method, route] of [
      ['trestle-rest-bridge', 'GET', '/products'],
      ['trestle-orders', 'POST', '/graphql'],
    ] as const) {
      const findPoint = () =>
        findDurations(service)
          .at(-1)
          ?.histogram?.dataPoints.find(({ attributes }) => attributes.some(({ value }) => value.stringValue === route));
      await until(() => Promise.resolve(findPoint() !== undefined));
      const point = findPoint();
      const values = Object.fromEntries(
        (point?.attributes ?? []).map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
      );
      expect(values).toEqual({ 'http.request.method': method, 'http.route': route, 'http.response.status_code': 200 });
      expect(point?.bucketCounts).toHaveLength((point?.explicitBounds.length ?? 0) + 1);
      expect(point?.bucketCounts.reduce((sum, each) => sum + each, 0)).toBe(point?.count);
      expect(findDurations(service)[0]?.unit).toBe('s');
    }
    for (const service of PROCESSES)
      await until(() =>
        Promise.resolve(collector.metrics.some((each) => each.service === service && each.name === 'process_cpu_seconds_total')),
      );
  });
});

describe('exported log lines', () => {
  it('name the span of their request, and have no more than standard output', async () => {
    const { id, token } = await stack.createAccount('Logged Person');
    const traceId = '6af7651916cd43dd8448eb211c80319e';
    const headers = { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` };
    await stack.call('GET', `/v1/users/${id}`, { token, headers });
    await traceWith(traceId, /^SELECT /);
    const find = () => collector.records.filter((each) => each.traceId === traceId);
    await until(() => Promise.resolve(new Set(find().map(({ service }) => service)).size === 3));
    const spanIds = new Set(collector.spans.filter((span) => span.traceId === traceId).map(({ spanId }) => spanId));
    for (const record of find()) {
      expect([record.severityText, record.body.stringValue]).toEqual(['info', 'request']);
      expect(spanIds).toContain(record.spanId);
    }
    const text = JSON.stringify(collector.records);
    for (const planted of [id, token, 'logged.person@']) expect(text).not.toContain(planted);
  });
});

it('shows the trace of a request as an exemplar in /metrics, in the format OpenMetrics', async () => {
  const traceId = '7af7651916cd43dd8448eb211c80319e';
  const headers = { traceparent: `00-${traceId}-${CLIENT_SPAN}-01` };
  await request(`${stack.gateway}/graphql`, { method: 'POST', body: { query: '{ __typename }' }, headers });
  const accept = 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5';
  const reply = await request(`${stack.gateway}/metrics`, { method: 'GET', headers: { accept } });
  expect(reply.headers.get('content-type')).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
  expect(reply.text).toMatch(new RegExp(`_bucket\\{[^}]*\\} \\d+ # \\{trace_id="${traceId}",span_id="[0-9a-f]{16}"\\} [\\d.]+ [\\d.]+\n`));
  expect(reply.text.endsWith('\n# EOF\n')).toBe(true);
});
