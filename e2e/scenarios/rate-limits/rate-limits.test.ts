/** Requests per minute at the bridge and the gateway (spec §7.1, §8). */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiKey } from '@trestle/identity/api-keys';
import { WebSocket } from 'ws';
import { readMetric } from '../../stack/client.ts';
import type { RunningProcess } from '../../stack/process.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';

let stack: Stack;
let home: string;
let env: Readonly<Record<string, string>>;
let ada: Account;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-rates-'));
  const key = join(home, 'secret.key');
  await writeFile(key, 'x'.repeat(32));
  env = { CLIENT_ID_KEY_FILE: key, TRUSTED_PROXIES: '127.0.0.1', OAUTH_ISSUER: 'http://127.0.0.1:3000', OAUTH_KEY_FILE: key };
  stack = await startStack({ env });
  ada = await stack.createAccount('Ada');
});
afterAll(async () => {
  await stack.stop();
  await rm(home, { recursive: true });
});

const LIMITS = { RATE_LIMIT_ANONYMOUS_PER_MIN: '3', RATE_LIMIT_FREE_PER_MIN: '5' };

interface Sent {
  readonly from: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams;
}

/** Sends a request from an address, through the trusted proxy that the test is. */
async function send(process: RunningProcess, path: string, { from, headers = {}, ...init }: Sent) {
  const response = await fetch(`${process.url}${path}`, { ...init, headers: { ...headers, 'x-forwarded-for': from }, redirect: 'manual' });
  const text = await response.text();
  const read = (name: string) => response.headers.get(name);
  return { status: response.status, text, read, left: read('x-ratelimit-remaining') };
}

/** Sends bytes from the test's own address. Returns the status and what is left of the limit, of each response until the connection ends. */
async function sendBytes({ port }: RunningProcess, text: string) {
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  await once(socket, 'close');
  const heads = received.split(/(?=HTTP\/1\.1 \d)/).filter((head) => /ratelimit-policy: "anonymous";q=3;w=60/i.test(head));
  return heads.map((head) => [/^HTTP\/1\.1 (\d+)/, /x-ratelimit-remaining: (\d+)/i].map((pattern) => Number(pattern.exec(head)?.[1])));
}

const bearer = (account: Account) => ({ authorization: `Bearer ${account.token}` });

describe('the bridge', () => {
  let bridge: RunningProcess;
  beforeAll(async () => {
    bridge = await stack.startBridge(LIMITS);
  });
  const get = (path: string, from: string, headers: Record<string, string> = {}) => send(bridge, path, { from, headers });

  it('refuses the requests of an address beyond its limit with 429 in the envelope, and says when they are accepted again', async () => {
    const replies = [];
    for (let i = 0; i < 5; i++) replies.push(await get('/v1/products?limit=1', '203.0.113.1'));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
    expect(replies.map(({ left }) => left)).toEqual(['2', '1', '0', '0', '0']);
    const { error } = JSON.parse(replies[4]?.text ?? '') as { error: Record<string, unknown> };
    expect(error).toEqual({
      code: 'RATE_LIMIT_EXCEEDED',
      message: expect.stringContaining('3 requests per minute (anonymous)'),
      requestId: replies[4]?.read('x-request-id'),
      retryAfter: Number(replies[4]?.read('retry-after')),
      limit: 3,
      remaining: 0,
      resetAt: new Date(Number(replies[4]?.read('x-ratelimit-reset')) * 1000).toISOString().replace('.000', ''),
    });
    expect(error['retryAfter']).toBeGreaterThan(30);
    expect(error['retryAfter']).toBeLessThanOrEqual(60);
    expect(replies[0]?.read('ratelimit-policy')).toBe('"anonymous";q=3;w=60');
    expect(replies[0]?.read('ratelimit')).toMatch(/^"anonymous";r=2;t=(?:59|60)$/);
  });

  it('counts an IPv6 /64 network as one address, and other addresses alone', async () => {
    for (let i = 0; i < 3; i++) await get('/v1/products?limit=1', `2001:db8:1:1::${String(i)}`);
    expect((await get('/v1/products?limit=1', '2001:db8:1:1:ffff::1')).status).toBe(429);
    expect((await get('/v1/products?limit=1', '2001:db8:1:2::1')).status).toBe(200);
  });

  it('counts a caller by its account, from whatever address, with the limit of its plan', async () => {
    const replies = [];
    for (let i = 0; i < 6; i++) replies.push(await get('/v1/products?limit=1', `198.51.100.${String(i)}`, bearer(ada)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(replies[0]?.read('x-ratelimit-limit')).toBe('5');
    // Another account of the same address still has its own.
    const bob = await stack.createAccount('Bob');
    expect((await get('/v1/products?limit=1', '198.51.100.5', bearer(bob))).status).toBe(200);
  });

  it.each([
    ['404', '/v1/nothing', {}, 404],
    ['400', '/v1/products?limit=0', {}, 400],
    ['401', '/v1/orders', {}, 401],
    ['401 for an invalid credential', '/v1/products', { authorization: 'Bearer x' }, 401],
    ['406', '/v1/products', { accept: 'image/png' }, 406],
    ['a redirect', '/v1/products/', {}, 301],
    ['a document', '/v1/openapi.json', {}, 200],
    ['a page', '/docs', {}, 200],
    ['the discovery document', '/.well-known/openid-configuration', {}, 200],
    ['a page of the authorization server', '/oauth/device', {}, 200],
    ['an invalid authorization request', '/oauth/authorize', {}, 400],
    ['a method that the token endpoint does not take', '/oauth/token', {}, 405],
    ['a URL that is too long', `/oauth/authorize?state=${'x'.repeat(8192)}`, {}, 414],
  ])('counts and describes the limit on %s', async (name, path, headers, status) => {
    const from = `192.0.2.${String((name.length + path.length) % 255)}`;
    const reply = await get(path, from, { ...headers });
    expect([reply.status, reply.read('x-ratelimit-limit')]).toEqual([status, '3']);
    expect(Number(reply.left)).toBeLessThan(3);
  });

  it('refuses requests to the authorization server beyond the limit, and describes it to the client that asks for a token', async () => {
    const body = new URLSearchParams({ grant_type: 'authorization_code' });
    const replies = [];
    for (let i = 0; i < 4; i++) replies.push(await send(bridge, '/oauth/token', { from: '203.0.113.20', method: 'POST', body }));
    expect(replies.map(({ status, left }) => [status, left])).toEqual([
      [400, '2'],
      [400, '1'],
      [400, '0'],
      [429, '0'],
    ]);
    expect(replies[3]?.read('retry-after')).toMatch(/^\d+$/);
    // The limit is one for all paths of an address.
    expect((await get('/v1/products?limit=1', '203.0.113.20')).status).toBe(429);
  });

  it('describes the limit of an address on responses that no route sends, without counting them', async () => {
    const own = await stack.startBridge({ ...LIMITS, CORS_ORIGINS: 'https://app.example.com', PUBLIC_URL: 'https://api.example.com' });
    const preflight = { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' };
    const ask = (init: { method?: string; headers: Record<string, string> }) => send(own, '/v1/orders', { from: '203.0.113.21', ...init });
    const answers = [
      await ask({ method: 'OPTIONS', headers: preflight }),
      await ask({ method: 'OPTIONS', headers: { ...preflight, origin: 'https://evil.example' } }),
      await ask({ headers: { 'x-forwarded-proto': 'http' } }),
    ];
    expect(answers.map(({ status, left }) => [status, left])).toEqual([
      [204, '3'],
      [403, '3'],
      [308, '3'],
    ]);
    expect(answers.map(({ read }) => read('ratelimit-policy'))).toEqual(Array(3).fill('"anonymous";q=3;w=60'));
    // The limit of the address is not that of the account.
    const refused = await ask({ headers: { 'x-forwarded-proto': 'http', ...bearer(ada) } });
    expect([refused.status, refused.left]).toEqual([403, null]);
  });

  it('counts and describes the limit on requests that are refused before any handler, and refuses them as before beyond it', async () => {
    const own = await stack.startBridge(LIMITS);
    expect(await sendBytes(own, 'GET / HTTP/1.1\r\nX A: b\r\n\r\n')).toEqual([[400, 2]]);
    expect(await sendBytes(own, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`)).toEqual([[431, 1]]);
    expect(await sendBytes(own, 'GET /v1/products?limit=1 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n')).toEqual([
      [200, expect.any(Number)],
      [400, 0],
    ]);
    expect(await sendBytes(own, 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n')).toEqual([[501, 0]]);
    expect((await send(own, '/v1/products?limit=1', { from: '127.0.0.1' })).status).toBe(429);
  });

  it('limits guesses of credentials by address', async () => {
    const statuses = [];
    for (let i = 0; i < 5; i++)
      statuses.push((await get('/v1/users/me', '203.0.113.7', { authorization: `Bearer guess${String(i)}` })).status);
    expect(statuses).toEqual([401, 401, 401, 429, 429]);
  });

  it('does not count a response 304', async () => {
    const first = await get('/v1/products?limit=1', '203.0.113.8');
    const etag = { 'if-none-match': first.read('etag') ?? '' };
    for (let i = 0; i < 5; i++) {
      const reply = await get('/v1/products?limit=1', '203.0.113.8', etag);
      expect([reply.status, reply.left]).toEqual([304, '2']);
    }
  });

  it('does not count probes', async () => {
    for (let i = 0; i < 5; i++) expect((await get('/readyz', '203.0.113.9')).status).toBe(200);
    expect((await get('/v1/products?limit=1', '203.0.113.9')).left).toBe('2');
  });

  it('has no more API keys checked for an address than it may send requests, however many it sends at once', async () => {
    const wrong = Array.from({ length: 40 }, () => get('/v1/orders', '203.0.113.10', { 'x-api-key': createApiKey() }));
    const statuses = (await Promise.all(wrong)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(3);
    expect(statuses.filter((status) => status === 429)).toHaveLength(37);
    expect(await readMetric(bridge.url, 'trestle_api_key_exchanges_total{outcome="refused"}')).toBe(3);
  });

  it('ignores X-Forwarded-For of a peer that is no trusted proxy', async () => {
    const strict = await stack.startBridge({ ...LIMITS, TRUSTED_PROXIES: '10.0.0.0/8' });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await send(strict, '/v1/products?limit=1', { from: `203.0.113.${String(i)}` })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});

/** Sends an operation to a gateway. */
function postTo(gateway: RunningProcess, query: string, { from, headers }: Pick<Sent, 'from' | 'headers'>) {
  const all = { 'content-type': 'application/json', ...headers };
  return send(gateway, '/graphql', { from, method: 'POST', headers: all, body: JSON.stringify({ query }) });
}

describe('the gateway', () => {
  let gateway: RunningProcess;
  beforeAll(async () => {
    gateway = await stack.startGateway(LIMITS);
  });
  const post = (query: string, from: string, headers: Record<string, string> = {}) => postTo(gateway, query, { from, headers });

  it('refuses requests beyond the limit with 429 and the limit in `extensions`', async () => {
    const replies = [];
    for (let i = 0; i < 4; i++) replies.push(await post('{ __typename }', '203.0.113.1'));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(replies.map(({ left }) => left)).toEqual(['2', '1', '0', '0']);
    const { errors } = JSON.parse(replies[3]?.text ?? '') as { errors: { extensions: object }[] };
    expect(errors[0]?.extensions).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit: 3, remaining: 0 });
    expect(errors[0]?.extensions).toHaveProperty('retryAfter', Number(replies[3]?.read('retry-after')));
    expect(errors[0]?.extensions).toHaveProperty('resetAt');
  });

  it.each(['trestle', 'apollo'])('counts an operation by its estimated cost, and refuses it before it is executed: %s', async (engine) => {
    const own = engine === 'trestle' ? gateway : await stack.startGateway({ ...LIMITS, GATEWAY_ENGINE: engine });
    const post = (query: string, from: string, headers: Record<string, string> = {}) => postTo(own, query, { from, headers });
    const huge = '{ usersConnection(first: 100) { edges { node { posts { id author { id } } } } } }';
    const asked = await post(huge, '203.0.113.3', { ...bearer(ada), 'trestle-cost': '1' });
    const { estimated } = (JSON.parse(asked.text) as { extensions: { cost: { estimated: number } } }).extensions.cost;
    const units = Math.ceil(estimated / 1000);
    expect(units).toBeGreaterThan(2);
    expect([asked.status, Number(asked.left)]).toEqual([200, Math.max(0, 5 - units)]);
    await post('{ __typename }', '203.0.113.2');
    const refused = await post(huge, '203.0.113.2');
    expect([refused.status, refused.read('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(refused.text).not.toContain('"data"');
  });

  it.each([
    ['404', '/nothing', {}, 404],
    ['405', '/graphql', { method: 'PATCH' }, 405],
    ['400', '/graphql?query={', {}, 400],
    ['415', '/graphql', { method: 'POST', body: 'x' }, 415],
    ['the page', '/graphql', { headers: { accept: 'text/html' } }, 200],
  ])('counts and describes the limit on %s', async (_, path, init, status) => {
    const reply = await send(gateway, path, {
      from: `192.0.2.${String(status % 255)}`,
      ...(init as Omit<Sent, 'from'>),
    });
    expect([reply.status, reply.read('x-ratelimit-limit')]).toEqual([status, '3']);
  });

  it('counts each operation of a WebSocket', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-forwarded-for': '203.0.113.4' },
    });
    const messages: { type: string; payload?: { extensions?: object }[] }[] = [];
    const opened = new Promise<string | string[] | undefined>((resolve, reject) => {
      socket.on('upgrade', ({ headers }) => {
        resolve(headers['x-ratelimit-remaining']);
      });
      socket.on('error', reject);
    });
    const ended = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as (typeof messages)[number];
        messages.push(message);
        if (message.type === 'connection_ack')
          for (let i = 0; i < 3; i++)
            socket.send(JSON.stringify({ id: String(i), type: 'subscribe', payload: { query: '{ __typename }' } }));
        if (message.type === 'error') resolve();
      });
    });
    socket.on('open', () => {
      socket.send('{"type":"connection_init"}');
    });
    // The request for the WebSocket counts too.
    expect(await opened).toBe('2');
    await ended;
    socket.close();
    expect(messages.filter(({ type }) => type === 'complete')).toHaveLength(2);
    expect(messages.at(-1)?.payload?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit: 3, remaining: 0 });
  });

  it('counts and describes the limit on what is refused before any handler, WebSockets included', async () => {
    const own = await stack.startGateway(LIMITS);
    const upgrade = (headers: string) =>
      sendBytes(own, `GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`);
    expect(await sendBytes(own, 'GET /graphql HTTP/1.1\r\n\r\n')).toEqual([[400, 2]]);
    expect(await upgrade('Origin: https://evil.example\r\n')).toEqual([[403, 1]]);
    expect(await upgrade('Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: none\r\n')).toEqual([[400, 0]]);
    expect(await upgrade('')).toEqual([[429, 0]]);
    expect(await sendBytes(own, 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n')).toEqual([[501, 0]]);
  });

  it('does not count the calls of the bridge a second time', async () => {
    const limited = await stack.startBridge({ GATEWAY_URL: `${gateway.url}/graphql` });
    for (let i = 0; i < 8; i++) expect((await send(limited, '/v1/products?limit=1', { from: '203.0.113.5' })).status).toBe(200);
    expect((await post('{ __typename }', '203.0.113.5')).left).toBe('2');
    // Without the key of the system the header counts for nothing.
    for (let i = 0; i < 2; i++)
      await post('{ __typename }', '203.0.113.6', { 'trestle-client': `AAAAAAAAAAAAAAAA.203.0.113.0/24.${'A'.repeat(43)}` });
    expect((await post('{ __typename }', '203.0.113.6')).left).toBe('0');
  });
});

describe('the plan of an account', () => {
  let admin: Account;
  let bridge: RunningProcess;
  beforeAll(async () => {
    admin = await stack.createAccount('Root', 'ADMIN');
    bridge = await stack.startBridge(LIMITS);
  });
  const change = (id: string, body: object, headers: Record<string, string> = {}) =>
    stack.call('PATCH', `/v1/users/${id}?fields=plan,requestsPerMinute`, { token: admin.token, body, headers });
  /** The limit that the account has with a token that is issued now. */
  const limitOf = async (name: string) => {
    const body = { email: `${name.toLowerCase()}@example.org`, password: `${name}-passes-1` };
    const { accessToken } = (await stack.call('POST', '/v1/auth/login', { body })).body as { accessToken: string };
    const reply = await send(bridge, '/v1/products?limit=1', { from: '203.0.113.1', headers: { authorization: `Bearer ${accessToken}` } });
    return reply.read('x-ratelimit-limit');
  };

  it('is changed by an administrator, with the next access token', async () => {
    const { id } = await stack.createAccount('Carol');
    expect(await limitOf('Carol')).toBe('5');
    expect((await change(id, { plan: 'pro' })).body).toEqual({ plan: 'pro', requestsPerMinute: null });
    expect(await limitOf('Carol')).toBe('1000000');
    expect((await change(id, { plan: 'enterprise' })).body).toEqual({ plan: 'enterprise', requestsPerMinute: null });
    // As many as with the plan pro.
    expect(await limitOf('Carol')).toBe('1000000');
    expect((await change(id, { requestsPerMinute: 77 })).body).toEqual({ plan: 'enterprise', requestsPerMinute: 77 });
    expect(await limitOf('Carol')).toBe('77');
    expect((await change(id, { plan: 'free' })).body).toEqual({ plan: 'free', requestsPerMinute: null });
    expect(await limitOf('Carol')).toBe('5');
    const events = await stack.sql<{ detail: string }>(
      'users',
      `SELECT "actorId", detail FROM security_events WHERE "userId" = $1 AND type = 'PLAN_CHANGED' ORDER BY "createdAt", id`,
      [id],
    );
    expect(events.map(({ detail }) => detail)).toEqual([
      'free to pro',
      'pro to enterprise',
      'enterprise to enterprise (77 per minute)',
      'enterprise (77 per minute) to free',
    ]);
    expect(events).toEqual(events.map(({ detail }) => ({ actorId: admin.id, detail })));
  });

  it('is refused with an unknown plan, a number that the plan does not have, and a stale ETag; then nothing changes', async () => {
    const { id } = await stack.createAccount('Dora');
    for (const body of [{ plan: 'gold' }, { plan: null }, { requestsPerMinute: 5 }, { plan: 'enterprise', requestsPerMinute: 0 }])
      expect([body, (await change(id, body)).status]).toEqual([body, 400]);
    const etag = (await stack.call('GET', `/v1/users/${id}`, { token: admin.token })).headers.get('etag') ?? '';
    await change(id, { name: 'Theodora' });
    expect((await change(id, { plan: 'pro' }, { 'if-match': etag })).status).toBe(412);
    expect((await stack.call('GET', `/v1/users/${id}?fields=plan`, { token: admin.token })).body).toEqual({ plan: 'free' });
  });

  it('is seen by the account itself and by administrators, and changed by administrators only', async () => {
    const { id, token } = await stack.createAccount('Erin');
    expect((await stack.call('GET', `/v1/users/${id}?fields=plan`, { token })).body).toEqual({ plan: 'free' });
    expect((await stack.graphql('{ me { plan requestsPerMinute } }', { token })).data).toEqual({
      me: { plan: 'FREE', requestsPerMinute: null },
    });
    for (const other of [ada.token, undefined]) {
      const { body } = await stack.call('GET', `/v1/users/${id}?fields=id,plan`, { token: other });
      const code = other === undefined ? 'UNAUTHORIZED' : 'FORBIDDEN';
      expect(body).toMatchObject({ id, plan: null, _errors: [{ field: 'plan', code }] });
    }
    for (const body of [{ plan: 'enterprise' }, { requestsPerMinute: 1000 }])
      expect((await stack.call('PATCH', `/v1/users/${id}`, { token, body })).status).toBe(403);
    expect((await stack.call('GET', `/v1/users/${id}`, { token: admin.token })).body).not.toHaveProperty('plan');
  });
});
