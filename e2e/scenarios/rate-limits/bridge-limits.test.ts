/** Requests per minute at the bridge (spec §7.1, §8). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiKey } from '@trestle/identity/credentials/api-keys';
import { readMetric } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';
import { LIMITS, send, sendBytes } from './clients.ts';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

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

  it('has no more invalid API keys checked for an address than it may send requests, however many it sends at once', async () => {
    const wrong = Array.from({ length: 40 }, () => get('/v1/orders', '203.0.113.10', { 'x-api-key': createApiKey() }));
    const statuses = (await Promise.all(wrong)).map(({ status }) => status);
    expect(statuses.filter((status) => status !== 429 && status !== 401)).toEqual([]);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(3);
    expect(await readMetric(bridge.url, 'trestle_api_key_exchanges_total{outcome="refused"}')).toBe(3);
  });

  it('counts a caller by its API key, also when its address has no requests left', async () => {
    const created = await stack.call('POST', '/v1/api-keys', { token: ada.token, body: { name: 'Limits' } });
    const { secret } = created.body as { secret: string };
    for (let i = 0; i < 4; i++) await get('/v1/products?limit=1', '203.0.113.11');
    const replies = [];
    for (let i = 0; i < 6; i++) replies.push(await get('/v1/products?limit=1', '203.0.113.11', { 'x-api-key': secret }));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(replies[0]?.left).toBe('4');
  });

  it('ignores X-Forwarded-For of a peer that is no trusted proxy', async () => {
    const strict = await stack.startBridge({ ...LIMITS, TRUSTED_PROXIES: '10.0.0.0/8' });
    const statuses = [];
    for (let i = 0; i < 4; i++) statuses.push((await send(strict, '/v1/products?limit=1', { from: `203.0.113.${String(i)}` })).status);
    expect(statuses).toEqual([200, 200, 200, 429]);
  });
});
