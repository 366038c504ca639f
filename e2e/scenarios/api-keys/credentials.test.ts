/** Credentials of requests, by a table of cases at every transport: exactly one, and which answer refuses it (spec §5.1, §5.2, §5.7). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiKey } from '@trestle/identity/credentials/api-keys';
import { readMetric, request } from '../../stack/clients/client.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';
import { type RawReply, sendRaw } from './raw-request.ts';

let stack: LeasedStack;
let ada: Account;
let key: string;
let urlKey: string;

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  const create = async (isAllowedInUrl: boolean) => {
    const { body } = await stack.call('POST', '/v1/api-keys', { token: ada.token, body: { name: 'Tests', isAllowedInUrl } });
    return (body as { secret: string }).secret;
  };
  [key, urlKey] = [await create(false), await create(true)];
});
afterAll(() => stack.stop());

const QUERY = '{ me { id } }';
const SUBSCRIPTION = 'subscription { userCreated { id } }';
const asSearch = (query: string) => `query=${encodeURIComponent(query)}`;
const asBody = (query: string) => JSON.stringify({ query });

interface Sent {
  readonly headers?: readonly string[];
  /** The query string, without a question mark. */
  readonly search?: string;
  /** Whether no load balancer is in between, which would refuse or change the request itself. */
  readonly isDirect?: boolean;
}

const origins = (isDirect: boolean | undefined) => (isDirect === true ? stack.direct : stack);

/** How a request that needs the scope `account:manage`, or a caller, is sent at each transport. */
const HTTP_TRANSPORTS: Readonly<Record<string, (sent: Sent) => Promise<RawReply>>> = {
  'REST GET': ({ headers = [], search, isDirect }) =>
    sendRaw(`${origins(isDirect).rest}/v1/api-keys${search === undefined ? '' : `?${search}`}`, { method: 'GET', headers }),
  'GraphQL GET': ({ headers = [], search = '', isDirect }) =>
    sendRaw(`${origins(isDirect).gateway}/graphql?${asSearch('{ apiKeys { totalCount } }')}&${search}`, { method: 'GET', headers }),
  'GraphQL GET, server-sent events': ({ headers = [], search = '', isDirect }) =>
    sendRaw(`${origins(isDirect).gateway}/graphql?${asSearch('{ apiKeys { totalCount } }')}&${search}`, {
      method: 'GET',
      headers: ['Accept', 'text/event-stream, application/json;q=0.5', ...headers],
    }),
};
const POST_TRANSPORTS: Readonly<Record<string, (sent: Sent) => Promise<RawReply>>> = {
  'REST POST': ({ headers = [], search, isDirect }) =>
    sendRaw(`${origins(isDirect).rest}/v1/posts${search === undefined ? '' : `?${search}`}`, {
      method: 'POST',
      headers,
      body: '{"title":"x"}',
    }),
  'GraphQL POST': ({ headers = [], search = '', isDirect }) =>
    sendRaw(`${origins(isDirect).gateway}/graphql?${search}`, { method: 'POST', headers, body: asBody('{ apiKeys { totalCount } }') }),
  'GraphQL POST, multipart': ({ headers = [], search = '', isDirect }) =>
    sendRaw(`${origins(isDirect).gateway}/graphql?${search}`, {
      method: 'POST',
      headers: ['Accept', 'multipart/mixed;subscriptionSpec=1.0, application/json;q=0.5', ...headers],
      body: asBody('{ apiKeys { totalCount } }'),
    }),
};
const transports = [...Object.entries(HTTP_TRANSPORTS), ...Object.entries(POST_TRANSPORTS)];
/** The result of an operation in a stream has the status 200 (graphql-sse, "Distinct connections mode"); only admission has another one. */
const isStream = (name: string) => /events|multipart/.test(name);
const LACKS_SCOPE = 'Bearer realm="api", error="insufficient_scope", scope="account:manage"';
const challengeOf = ({ headers }: RawReply) => headers['www-authenticate'];

describe.each(transports)('%s', (name, send) => {
  it('answers 401 with the realm alone when no credential came', async () => {
    const reply = await send({});
    expect(reply.text).toContain('"UNAUTHORIZED"');
    expect([reply.status, challengeOf(reply)]).toEqual(isStream(name) ? [200, undefined] : [401, 'Bearer realm="api"']);
  });

  it('answers 401 with error="invalid_token" for every bad credential', async () => {
    const truncated = key.slice(0, -1);
    for (const headers of [
      ['Authorization', 'Bearer x.y.z'],
      ['Authorization', 'Bearer'],
      ['Authorization', ''],
      ['Authorization', 'Basic YTpi'],
      ['Authorization', `Bearer ${key}`],
      ['Authorization', `ApiKey ${truncated}`],
      ['Authorization', `ApiKey ${createApiKey()}`],
      ['Authorization', `ApiKey ${ada.token}`],
      ['X-API-Key', `${key}0`],
      ['X-API-Key', `${key} ${key}`],
      ['X-API-Key', createApiKey()],
      ['X-API-Key', ''],
      ['X-API-Key', 'trestle_live_\u00e9\u00e8'],
    ]) {
      const reply = await send({ headers });
      expect([headers, reply.status, challengeOf(reply)]).toEqual([headers, 401, 'Bearer realm="api", error="invalid_token"']);
      expect(reply.text).not.toContain(truncated);
    }
  });

  it('answers 400 for two credentials, wherever they stand and whatever they are worth', async () => {
    const [bearer, apiKey, header] = [
      ['Authorization', `Bearer ${ada.token}`],
      ['authorization', `ApiKey ${key}`],
      ['X-API-Key', key],
    ] as const;
    for (const headers of [
      [...bearer, ...bearer],
      [...bearer, ...apiKey],
      [...bearer, ...header],
      [...apiKey, ...header],
      [...header, ...header],
      ['Authorization', '', 'X-API-Key', ''],
    ]) {
      const reply = await send({ headers, isDirect: true });
      expect([headers, reply.status, challengeOf(reply)]).toEqual([headers, 400, undefined]);
    }
    expect((await send({ headers: header, search: `apiKey=${urlKey}` })).status).toBe(400);
    expect((await send({ search: `apiKey=${urlKey}&apiKey=${urlKey}` })).status).toBe(400);
  });

  it.each([
    ['Authorization: Bearer', () => ['Authorization', `Bearer ${ada.token}`]],
    ['Authorization: ApiKey', () => ['Authorization', `ApiKey ${key}`]],
    ['X-API-Key', () => ['x-api-key', key]],
  ])('accepts %s', async (__, toHeaders) => {
    const reply = await send({ headers: toHeaders() });
    expect(reply.text).not.toContain('"UNAUTHORIZED"');
    // A key of these tests lacks the scope to manage API keys.
    if (!reply.text.includes('"FORBIDDEN"') || isStream(name)) expect([200, 201]).toContain(reply.status);
    else expect([reply.status, challengeOf(reply)]).toEqual([403, LACKS_SCOPE]);
  });
});

describe.each(Object.entries(HTTP_TRANSPORTS))('an API key in the URL of %s', (name, send) => {
  const search = () => `%61piKey=${urlKey}`;

  it('is accepted when the key allows it, and the response is not stored and leaves no referrer', async () => {
    const reply = await send({ search: search() });
    expect([reply.status, reply.text.includes('"FORBIDDEN"')]).toEqual([isStream(name) ? 200 : 403, true]);
    expect(reply.headers).toMatchObject({ 'cache-control': expect.stringContaining('no-store'), 'referrer-policy': 'no-referrer' });
    expect(reply.text + JSON.stringify(reply.headers)).not.toContain(urlKey);
  });

  it('gets 401 when the key does not allow it', async () => {
    const reply = await send({ search: `apiKey=${key}` });
    expect([reply.status, challengeOf(reply)]).toEqual([401, 'Bearer realm="api", error="invalid_token"']);
    expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
  });
});

describe.each(Object.entries(POST_TRANSPORTS))('an API key in the URL of %s', (_, send) => {
  it('gets 400, and nothing is done', async () => {
    const before = await stack.sql<{ count: string }>('content', 'SELECT count(*) FROM posts');
    const reply = await send({ search: `apiKey=${urlKey}` });
    expect([reply.status, reply.headers['referrer-policy']]).toEqual([400, 'no-referrer']);
    expect(reply.text).toContain('GET only');
    expect(await stack.sql('content', 'SELECT count(*) FROM posts')).toEqual(before);
  });
});

describe('a WebSocket', () => {
  const places = (name: string, value: string): [string, { headers?: Record<string, string>; init?: Record<string, unknown> }][] => [
    ['in connection_init', { init: { [name]: value } }],
    ['in the headers', { headers: { [name]: value } }],
  ];
  const subscribed = async (options: Parameters<typeof openSocket>[1]) => {
    const client = await openSocket(`${stack.gateway}/graphql`, options);
    client.send({ id: '1', type: 'subscribe', payload: { query: QUERY } });
    const { payload } = await client.next(({ type }) => type === 'next');
    client.send({ id: '2', type: 'subscribe', payload: { query: SUBSCRIPTION } });
    await client.close();
    return payload;
  };
  const closeCode = async ({ headers, init = {} }: { headers?: Record<string, string>; init?: Record<string, unknown> }) => {
    const client = await openSocket(`${stack.gateway}/graphql`, { init: null, ...(headers && { headers }) });
    client.send({ type: 'connection_init', payload: init });
    return (await client.closed).code;
  };

  it('accepts an API key in connection_init and in the headers', async () => {
    for (const [name, value] of [
      ['Authorization', `ApiKey ${key}`],
      ['authorization', `Bearer ${ada.token}`],
      ['X-API-Key', key],
      ['x-api-key', key],
    ] as const)
      for (const [place, options] of places(name, value))
        expect([place, name, await subscribed(options)]).toEqual([place, name, { data: { me: { id: ada.id } } }]);
  });

  it('is closed with 4403 for a bad credential, and with 4400 for two in headers and connection_init together', async () => {
    for (const [name, value] of [
      ['X-API-Key', createApiKey()],
      ['X-API-Key', `${key}0`],
      ['Authorization', `ApiKey ${key.toLowerCase()}`],
    ] as const)
      for (const [, options] of places(name, value)) expect(await closeCode(options)).toBe(4403);
    for (const value of [1, {}, [key], `\u{1f511}`, 'x'.repeat(900_000)])
      expect(await closeCode({ init: { 'x-api-key': value } })).toBe(4403);
    for (const init of [
      { 'X-API-Key': key, 'x-api-key': key },
      { 'x-api-key': key, authorization: `Bearer ${ada.token}` },
    ])
      expect(await closeCode({ init })).toBe(4400);
    expect(await closeCode({ init: { 'x-api-key': key }, headers: { authorization: `Bearer ${ada.token}` } })).toBe(4400);
    expect(await closeCode({ init: { 'x-api-key': key }, headers: { 'x-api-key': key } })).toBe(4400);
  });

  it('is refused with 400 when its URL contains an API key', async () => {
    await expect(openSocket(`${stack.gateway}/graphql?apiKey=${urlKey}`)).rejects.toThrow('400');
  });
});

describe('a subgraph', () => {
  it('accepts tokens only', async () => {
    for (const headers of [
      ['X-API-Key', key],
      ['Authorization', `ApiKey ${key}`],
    ]) {
      const reply = await sendRaw(`${stack.subgraphs.orders.url}/graphql`, { method: 'POST', headers, body: asBody('{ __typename }') });
      expect([reply.status, reply.text.includes('invalid_token')]).toEqual([401, true]);
    }
  });
});

describe('wrong API keys', () => {
  it('with a wrong checksum cost the users subgraph nothing', async () => {
    const refusals = () => readMetric(stack.gateway, 'trestle_api_key_exchanges_total{outcome="refused"}');
    const before = await refusals();
    const url = `${stack.gateway}/graphql?query=%7B__typename%7D`;
    const replies = await Promise.all(
      Array.from({ length: 300 }, (_, i) =>
        request(url, { method: 'GET', headers: { 'x-api-key': `trestle_live_${String(i).padStart(38, '0')}` } }),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    expect(await refusals()).toEqual(before);
  });
});
