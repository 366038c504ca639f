/** Headers that an operator has chosen, in the spans and the access log of the gateway. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Collector, startCollector } from '../../stack/collectors/collector.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';

const SUBGRAPH = { only: { sdl: 'type Query { one: Int }', resolvers: { Query: { one: () => 1 } } } };
const SETTING = 'OTEL_INSTRUMENTATION_HTTP_CAPTURE_HEADERS_SERVER_REQUEST';

let collector: Collector;
let federation: Federation;
beforeAll(async () => {
  collector = await startCollector();
  const env = { [SETTING]: 'X-Tenant,X-Team', OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  federation = await startFederation(SUBGRAPH, { env });
});
afterAll(async () => {
  await federation.stop();
  await collector.stop();
});

/** Waits for the line of the access log with the operation, and returns its headers. */
async function loggedHeaders(operation: string): Promise<unknown> {
  const find = () => federation.gateway.lines.find((line) => line.includes(`"operation":"${operation}"`));
  await until(() => Promise.resolve(find() !== undefined));
  return (JSON.parse(find() ?? '') as { readonly headers?: unknown }).headers;
}

/** Waits for the SERVER span of the operation, and returns its attributes that are headers. */
async function exportedHeaders(operation: string): Promise<readonly unknown[]> {
  const find = () =>
    collector.spans.find(({ kind, attributes }) => kind === 2 && attributes.some(({ value }) => value.stringValue === operation));
  await until(() => Promise.resolve(find() !== undefined));
  return find()?.attributes.filter(({ key }) => key.startsWith('http.request.header.')) ?? [];
}

const toAttribute = (name: string, value: string) => ({
  key: `http.request.header.${name}`,
  value: { arrayValue: { values: [{ stringValue: value }] } },
});

describe(SETTING, () => {
  it('writes the chosen headers of a request into its span and its line of the access log', async () => {
    await federation.ask('query ByHttp { one }', {}, { 'X-Tenant': 'acme', 'X-Other': 'hidden' });
    expect(await loggedHeaders('ByHttp')).toEqual({ 'x-tenant': 'acme' });
    expect(await exportedHeaders('ByHttp')).toEqual([toAttribute('x-tenant', 'acme')]);
    expect(federation.received.at(-1)?.headers).not.toHaveProperty('x-tenant');
  });

  it('writes those of the handshake for each operation of a WebSocket', async () => {
    const client = await openSocket(federation.url, { headers: { 'X-Team': 'blue' } });
    client.send({ id: '1', type: 'subscribe', payload: { query: 'query BySocket { one }' } });
    await client.next(({ type }) => type === 'complete');
    await client.close();
    expect(await loggedHeaders('BySocket')).toEqual({ 'x-team': 'blue' });
    expect(await exportedHeaders('BySocket')).toEqual([toAttribute('x-team', 'blue')]);
  });

  it('writes nothing for a request without them, and cuts long values', async () => {
    await federation.ask('query Without { one }');
    expect(await loggedHeaders('Without')).toBeUndefined();
    await federation.ask('query Long { one }', {}, { 'X-Tenant': 'a'.repeat(800) });
    expect(await loggedHeaders('Long')).toEqual({ 'x-tenant': `${'a'.repeat(252)}…` });
  });

  it.each([
    ['Authorization', {}, 'must be names of headers without credentials'],
    ['X-Token', { AUTH: 'on', TOKEN_SOURCES: 'header:X-Token' }, 'must not name a header of authentication.tokenSources'],
  ])('does not start with %s, a header that holds a credential', async (name, env, message) => {
    await expect(startFederation(SUBGRAPH, { env: { ...env, [SETTING]: name } })).rejects.toThrow(message);
  });
});
