/** The spans of a result in parts (`@defer`): that of its execution lasts until the last part. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type Collector, startCollector } from '../../stack/collectors/collector.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { TIDES } from '../../stack/federation/tides.ts';

const QUERY = '{ harbour { code ... @defer { tide } } }';

let collector: Collector;
let federation: Federation;
beforeAll(async () => {
  collector = await startCollector();
  federation = await startFederation(TIDES, {
    env: { MAX_DEFERRED: '10', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint },
  });
});
afterAll(async () => {
  await federation.stop();
  await collector.stop();
});

const find = (traceId: string, name: string) => collector.spans.filter((span) => span.traceId === traceId && span.name === name);

/** Returns the spans of the request, once all of them are exported. */
async function readSpans(traceId: string) {
  await until(() => Promise.resolve(find(traceId, 'POST /graphql').length === 1 && find(traceId, 'GraphQL execute').length === 1));
  const [[top], [execution], fetches] = [find(traceId, 'POST /graphql'), find(traceId, 'GraphQL execute'), find(traceId, 'POST')];
  return { top, execution, fetches };
}

it('ends the span of the execution after the deferred fetches, and before the span of the request', async () => {
  const traceId = '2af7651916cd43dd8448eb211c80319e';
  const headers = { accept: 'multipart/mixed, application/json', traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  // The deferred fetch is answered after the span of a fetch was exported that ended before the first part.
  federation.intercept = async ({ subgraph }) => {
    if (subgraph === 'tides') await until(() => Promise.resolve(find(traceId, 'POST').length === 1));
  };
  const { text } = await request(federation.url, { method: 'POST', body: { query: QUERY }, headers });
  expect(text).toContain('"tide":1.5');
  const { top, execution, fetches } = await readSpans(traceId);
  expect(fetches.map(({ parentSpanId }) => parentSpanId)).toEqual([execution?.spanId, execution?.spanId]);
  for (const { endTimeUnixNano } of fetches) expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(execution?.endTimeUnixNano ?? 0));
  expect(BigInt(execution?.endTimeUnixNano ?? 0)).toBeLessThanOrEqual(BigInt(top?.endTimeUnixNano ?? 0));
});

it('ends the span of the execution when the client disconnects before the last part', async () => {
  const traceId = '3af7651916cd43dd8448eb211c80319f';
  const leave = new AbortController();
  let hasArrived = false;
  federation.intercept = ({ subgraph }, { socket }) => {
    if (subgraph !== 'tides') return undefined;
    hasArrived = true;
    return new Promise((resolve) => socket.once('close', resolve));
  };
  const headers = { accept: 'multipart/mixed', 'content-type': 'application/json', traceparent: `00-${traceId}-b7ad6b7169203331-01` };
  const response = await fetch(federation.url, { method: 'POST', headers, body: JSON.stringify({ query: QUERY }), signal: leave.signal });
  await until(() => Promise.resolve(hasArrived));
  expect(response.status).toBe(200);
  leave.abort();
  const { execution, fetches } = await readSpans(traceId);
  expect(fetches).toHaveLength(2);
  for (const { endTimeUnixNano } of fetches) expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(execution?.endTimeUnixNano ?? 0));
});
