/** What is true of the result of an operation is true of it in parts: limits, refusals, and what is counted. */
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { readRequests } from '../../stack/collectors/graphos-report.ts';
import { type ReportReceiver, startReportReceiver } from '../../stack/collectors/report-receiver.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const MAX_BYTES = 65_536;
const sources = {
  harbours: {
    sdl: 'type Query { harbour: Harbour! log: String } type Harbour @key(fields: "code") { code: ID! }',
    resolvers: { Query: { harbour: () => ({ code: 'HAM' }), log: () => 'x'.repeat(MAX_BYTES) } },
  },
  tides: {
    sdl: 'type Harbour @key(fields: "code") { code: ID! tide: Float! table: String }',
    resolvers: { Harbour: { __resolveReference: (key: object) => key, tide: () => 1.5, table: () => 'y'.repeat(MAX_BYTES / 2) } },
  },
};
const DEFERRED = '{ harbour { code ... @defer { tide } } }';
const WHOLE = '{ harbour { code tide } }';

let federation: Federation;
let receiver: ReportReceiver;
beforeAll(async () => {
  receiver = await startReportReceiver();
  const env = { MAX_DEFERRED: '10', MAX_RESPONSE_BYTES: String(MAX_BYTES), COST_MODE: 'measure' };
  const usage = { APOLLO_KEY: 'service:shop:secret', APOLLO_GRAPH_REF: 'shop@current', APOLLO_USAGE_REPORTS: 'on' };
  const ingress = { APOLLO_USAGE_REPORTING_INGRESS_URL: `${receiver.url}/api/ingress/traces`, USAGE_INTERVAL_MS: '100' };
  federation = await startFederation(sources, { env: { ...env, ...usage, ...ingress } });
});
afterAll(async () => {
  await federation.stop();
  await receiver.stop();
});
beforeEach(async () => {
  federation.intercept = undefined;
  await until(async () => (await readMetric(federation.gateway.url, 'trestle_usage_pending_bytes')) === 0);
  receiver.received.length = 0;
});

interface Failed {
  readonly errors?: readonly { readonly path?: unknown; readonly extensions: { readonly code: string; readonly service?: string } }[];
}
interface Part extends Failed {
  readonly completed?: readonly Failed[];
}

/** Returns the status, the challenge and the responses to a client that accepts parts, or one response. */
async function ask(query: string) {
  const headers = { accept: 'multipart/mixed, application/json' };
  const { status, headers: head, text } = await request(federation.url, { method: 'POST', body: { query }, headers });
  const parts = text.split('\r\n---').flatMap((part) => (part.includes('{') ? [JSON.parse(part.slice(part.indexOf('{'))) as Part] : []));
  return { status, challenge: head.get('www-authenticate'), parts };
}

describe('an operation with deferred fragments', () => {
  it('whose first response is too large is refused as the same operation without them', async () => {
    const [deferred, whole] = [await ask('{ log harbour { ... @defer { tide } } }'), await ask('{ log harbour { tide } }')];
    const readError = ({ parts: [first] }: typeof whole) => [first?.errors?.map(({ path, extensions: { code } }) => ({ path, code }))];
    expect(readError(deferred)).toEqual([[{ path: undefined, code: 'VALIDATION_ERROR' }]]);
    expect(readError(deferred)).toEqual(readError(whole));
    expect(federation.gateway.lines.filter((line) => line.includes('request failed'))).toEqual([]);
  });

  it('lacks the parts beyond the limit of bytes, with an error that names no subgraph', async () => {
    const { parts } = await ask('{ harbour { code ... @defer { table } ... @defer { code table } ... @defer { tide copy: table } } }');
    const failed = parts.flatMap(({ completed = [] }) => completed.flatMap(({ errors = [] }) => errors));
    expect(failed.length).toBeGreaterThan(0);
    for (const each of failed) {
      expect(each).toMatchObject({ path: ['harbour'], extensions: { code: 'VALIDATION_ERROR' } });
      expect(each.extensions).not.toHaveProperty('service');
    }
  });

  it('gets status 401 and a challenge when its only response says that a credential is missing', async () => {
    const errors = [{ message: 'Who are you?', path: ['harbour'], extensions: { code: 'UNAUTHORIZED' } }];
    federation.intercept = () => ({ data: null, errors });
    const [{ parts, ...deferred }, { parts: expected, ...whole }] = [await ask(DEFERRED), await ask(WHOLE)];
    expect(deferred).toEqual(whole);
    expect(deferred).toEqual({ status: 401, challenge: expect.stringContaining('Bearer') as unknown });
    expect([parts.length, expected.length]).toEqual([1, 1]);
  });

  it('is reported with the errors of its parts', async () => {
    federation.intercept = ({ subgraph }) => (subgraph === 'tides' ? { data: null, errors: [{ message: 'no tide' }] } : undefined);
    const report = async (query: string) => {
      receiver.received.length = 0;
      await ask(query);
      await until(() => Promise.resolve(receiver.received.length > 0));
      return readRequests(receiver.received).map(({ requests, withErrors, errors }) => ({ requests, withErrors, errors }));
    };
    const reported = await report(DEFERRED);
    const place = { children: { harbour: { children: { tide: { errorsCount: '1' } } } } };
    expect(reported).toMatchObject([{ requests: 1, withErrors: 1, errors: { children: { 'service:tides': place } } }]);
    expect(reported).toEqual(await report(WHOLE));
  });

  it('is reported once when its parts have no errors', async () => {
    await ask(DEFERRED);
    await until(() => Promise.resolve(receiver.received.length > 0));
    expect(readRequests(receiver.received)).toMatchObject([{ requests: 1, withErrors: 0 }]);
  });

  it('is reported when its client disconnects before the first part', async () => {
    const leave = new AbortController();
    let isGone = false;
    // The fetch ends when the gateway aborts it.
    federation.intercept = async (_, { socket }) => {
      const closed = once(socket, 'close');
      leave.abort();
      await closed;
      isGone = true;
    };
    const headers = { accept: 'multipart/mixed', 'content-type': 'application/json' };
    const sent = fetch(federation.url, { method: 'POST', headers, body: JSON.stringify({ query: DEFERRED }), signal: leave.signal });
    await expect(sent).rejects.toThrow();
    await until(() => Promise.resolve(isGone && receiver.received.length > 0));
    expect(readRequests(receiver.received)).toMatchObject([{ requests: 1, withErrors: 1 }]);
  });

  it('adds the cost of all its parts to the metric of actual costs', async () => {
    const cost = async (query: string) => {
      const read = (name: string) => readMetric(federation.gateway.url, `trestle_operation_cost_actual_${name}`);
      const [count, sum] = [await read('count'), await read('sum')];
      await ask(query);
      return [(await read('count')) - count, (await read('sum')) - sum];
    };
    const [count, sum] = await cost(DEFERRED);
    expect([count, sum]).toEqual(await cost(WHOLE));
    expect(count).toBe(1);
  });
});
