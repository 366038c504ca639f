/** Versions of the REST API: selectors, shapes, the end of a version (spec §9, contract §4). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let productId: number;
let orderId: string;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-versions-'));
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  const [product] = await stack.sql<{ id: number }>(
    'orders',
    `INSERT INTO products (name, description, category, price, currency, stock) VALUES ('Rope', '', 'ropes', 1250, 'EUR', 100) RETURNING id`,
  );
  productId = product?.id ?? 0;
  const order = await stack.call('POST', '/v1/orders', { token: ada.token, body: { productId, qty: 2 } });
  orderId = (order.body as { id: string }).id;
});
afterAll(async () => {
  await stack.stop();
  await rm(home, { recursive: true });
});

const get = (path: string, headers: Record<string, string> = {}, token?: string) => stack.call('GET', path, { headers, token });
const version = async (path: string, headers: Record<string, string> = {}) => {
  const reply = await get(path, headers);
  return reply.status === 200 ? reply.headers.get('api-version') : reply.status;
};

describe('the API version', () => {
  it.each([
    ['/v1/products', {}, '1'],
    ['/v2/products', {}, '2'],
    ['/api/v2/products', {}, '2'],
    ['/products', {}, '1'],
    ['/api/products', {}, '1'],
    ['/products', { 'api-version': '2' }, '2'],
    ['/products', { 'api-version': '2025-12-24' }, '1'],
    ['/products', { 'api-version': '2026-11-01' }, '2'],
    ['/products', { 'api-version': '2999-01-01' }, '2'],
    ['/products', { accept: 'application/vnd.trestle.v2+json' }, '2'],
    ['/products?version=2', {}, '2'],
    ['/v2/products?version=2', { 'api-version': '2', accept: 'application/vnd.trestle.v2+json' }, '2'],
    ['/v1/products', { 'api-version': '2' }, 400],
    ['/v2/products?version=1', {}, 400],
    ['/v1/products', { accept: 'application/vnd.trestle.v2+json' }, 400],
    ['/products?version=1', { 'api-version': '2026-11-01' }, 400],
    ['/v3/products', {}, 404],
    ['/v01/products', {}, 404],
    ['/products', { accept: 'application/vnd.trestle.v3+json' }, 406],
    ['/products?version=3', {}, 400],
    ['/products', { 'api-version': '3' }, 400],
    ['/products', { 'api-version': '2020-01-01' }, 400],
    ['/products', { 'api-version': '2026-02-30' }, 400],
    ['/products', { 'api-version': 'latest' }, 400],
  ])('of %s with the headers %j is %s', async (path, headers, expected) => {
    expect(await version(path, headers)).toBe(expected);
  });

  it('is sent in API-Version with every response, including errors', async () => {
    expect((await get('/v2/nothing')).headers.get('api-version')).toBe('2');
    expect((await get('/v3/products')).headers.get('api-version')).toBe('1');
    expect((await stack.call('POST', '/v2/products/1', {})).headers.get('api-version')).toBe('2');
    const tooLong = await request(`${stack.direct.rest}/v2/${'x'.repeat(9000)}`, { method: 'GET' });
    expect([tooLong.status, tooLong.headers.get('api-version')]).toEqual([414, '2']);
    for (const [method, path, status] of [
      ['GET', '/livez', 200],
      ['HEAD', '/readyz', 200],
      ['GET', '/metrics', 200],
      ['POST', '/livez', 405],
    ] as const) {
      const probe = await stack.call(method, path);
      expect([path, probe.status, probe.headers.get('api-version')]).toEqual([path, status, '1']);
    }
  });
});

describe('version 2', () => {
  it('represents money as an object in every resource', async () => {
    const rope = { amount: 1250, currency: 'EUR' };
    const sum = { amount: 2500, currency: 'EUR' };
    const order = (await get(`/v2/orders/${orderId}?include=items,invoice`, {}, ada.token)).body;
    expect(order).toMatchObject({ total: sum, items: [{ unitPrice: rope, total: sum }], invoice: { total: sum } });
    expect(order).not.toHaveProperty('currency');
    expect((await get(`/v2/products/${String(productId)}?fields=price`)).body).toEqual({ price: rope });
    expect((await get(`/v1/products/${String(productId)}?fields=price,currency`)).body).toEqual({ price: 1250, currency: 'EUR' });
    expect((await get(`/v2/products/${String(productId)}?fields=currency`)).status).toBe(400);
  });

  it('accepts money as an object', async () => {
    const pay = (path: string, body: object, key: string) =>
      stack.call('POST', path, { token: ada.token, body: { customerId: ada.id, ...body }, headers: { 'idempotency-key': key } });
    const paid = await pay('/v2/payments', { amount: { amount: 500, currency: 'EUR' } }, 'v2-object');
    expect([paid.status, paid.body]).toMatchObject([201, { amount: { amount: 500, currency: 'EUR' } }]);
    expect(paid.headers.get('location')).toMatch(/^\/v2\/payments\/pay_/);
    expect((await pay('/v2/payments', { amount: 500, currency: 'EUR' }, 'v2-plain')).body).toMatchObject({
      error: { code: 'VALIDATION_ERROR', details: [{ field: 'currency' }, { field: 'amount' }] },
    });
    expect((await pay('/v2/payments', { amount: 500 }, 'v2-alone')).body).toMatchObject({ error: { details: [{ field: 'amount' }] } });
    expect((await pay('/v1/payments', { amount: { amount: 500, currency: 'EUR' } }, 'v1-object')).status).toBe(400);
  });

  it('names faulty members of a money object as the client has sent them', async () => {
    const detailsOf = async (amount: unknown, customerId: unknown = ada.id) => {
      const headers = { 'idempotency-key': JSON.stringify([amount, customerId]).slice(0, 60) };
      const reply = await stack.call('POST', '/v2/payments', { token: ada.token, headers, body: { customerId, amount } });
      const { error } = reply.body as { error: { details?: readonly { field: string }[] } };
      return [reply.status, ...(error.details ?? []).map(({ field }) => field)];
    };
    expect(await detailsOf({ amount: 500, currency: 5 })).toEqual([400, 'amount.currency']);
    expect(await detailsOf({ amount: 'x', currency: null })).toEqual([400, 'amount.amount', 'amount.currency']);
    // What the subgraph finds, alone and beside what the bridge does.
    expect(await detailsOf({ amount: 500, currency: 'EURO' })).toEqual([400, 'amount.currency']);
    expect(await detailsOf({ amount: -1, currency: 'EUR' })).toEqual([400, 'amount.amount']);
    expect(await detailsOf({ amount: -1, currency: 'EURO', more: 1 })).toEqual([400, 'amount']);
    expect(await detailsOf({ amount: -1, currency: 5 })).toEqual([400, 'amount.currency', 'amount.amount']);
    const product = { name: 'Rope', category: 'tools', stock: 1, price: { amount: 1, currency: 'EURO' } };
    const admin = await stack.createAccount('Admin', 'ADMIN');
    const made = await stack.call('POST', '/v2/products', { token: admin.token, body: product });
    expect([made.status, made.body]).toMatchObject([400, { error: { details: [{ field: 'price.currency' }] } }]);
  });

  it('pages lists by cursor without paging parameters', async () => {
    const second = (await get('/v2/products')).body as { pagination: object };
    expect(Object.keys(second.pagination)).toEqual(['limit', 'hasNextPage', 'hasPrevPage', 'nextCursor', 'prevCursor']);
    expect(Object.keys(((await get('/v2/products?page=1')).body as { pagination: object }).pagination)).toContain('totalPages');
    expect(Object.keys(((await get('/v1/products')).body as { pagination: object }).pagination)).toContain('totalPages');
  });
});

describe('a deprecated version', () => {
  const withDates = async (dates: object, settings: Record<string, string> = {}) => {
    const file = join(home, `${String(Math.random()).slice(2)}.json`);
    await writeFile(file, JSON.stringify({ '1': dates }));
    const { url } = await stack.startBridge({ API_VERSIONS_FILE: file, ...settings });
    return (path: string, options: Parameters<typeof request>[1] = { method: 'GET' }) => request(`${url}${path}`, options);
  };

  it('sends Deprecation, Sunset and Link with each of its responses, unlike other versions', async () => {
    const ask = await withDates({ deprecatedAt: '2026-01-01T00:00:00Z', sunsetAt: '2099-01-01T00:00:00Z' });
    for (const path of ['/v1/products', '/v1/nothing', '/products', `/v1/${'x'.repeat(9000)}`]) {
      const { headers } = await ask(path);
      expect([headers.get('deprecation'), headers.get('sunset')]).toEqual(['true', 'Thu, 01 Jan 2099 00:00:00 GMT']);
    }
    expect((await ask('/api/v1/users?limit=1')).headers.get('link')).toMatch(/<\/api\/v2\/users>; rel="successor-version"/);
    expect((await ask('/v2/products')).headers.get('deprecation')).toBeNull();
  });

  it('answers 410 with the link to its successor after the sunset', async () => {
    const ask = await withDates({ deprecatedAt: '2025-01-01T00:00:00Z', sunsetAt: '2026-01-01T00:00:00Z' });
    const gone = await ask('/v1/users/usr_x?fields=id');
    expect([gone.status, gone.body]).toMatchObject([410, { error: { code: 'GONE' } }]);
    expect(gone.headers.get('link')).toBe('</v2/users/usr_x>; rel="successor-version"');
    expect((await ask('/v2/products')).status).toBe(200);
    // RFC 8615: well-known paths have no version.
    const keys = await ask('/.well-known/jwks.json');
    expect([keys.status, keys.headers.get('deprecation')]).toEqual([200, null]);
  });

  it('leaves the index and the documents without a version after the sunset, for the next one', async () => {
    const ask = await withDates({ deprecatedAt: '2025-01-01T00:00:00Z', sunsetAt: '2026-01-01T00:00:00Z' });
    for (const path of ['/', '/docs', '/openapi.json', '/asyncapi.json', '/api/openapi.json']) {
      const { status, headers } = await ask(path);
      expect([path, status, headers.get('api-version'), headers.get('deprecation')]).toEqual([path, 200, '2', null]);
    }
    expect((await ask('/openapi.json')).body).toMatchObject({ info: { version: '2.0.0' } });
    for (const path of ['/v1', '/v1/docs', '/docs?version=1']) expect([path, (await ask(path)).status]).toEqual([path, 410]);
  });

  it('answers preflight requests after the sunset, and lets pages of listed origins read the 410', async () => {
    const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'PATCH' };
    const ask = await withDates(
      { deprecatedAt: '2025-01-01T00:00:00Z', sunsetAt: '2026-01-01T00:00:00Z' },
      { CORS_ORIGINS: headers.origin },
    );
    const preflight = await ask('/v1/users/usr_x', { method: 'OPTIONS', headers });
    const gone = await ask('/v1/users/usr_x', { method: 'GET', headers });
    expect([preflight, gone].map((reply) => [reply.status, reply.headers.get('access-control-allow-origin')])).toEqual([
      [204, headers.origin],
      [410, headers.origin],
    ]);
  });

  it('with an invalid API_VERSIONS_FILE prevents the start of the bridge', async () => {
    await expect(withDates({ deprecatedAt: 'soon' })).rejects.toThrow(/API_VERSIONS_FILE: must have 1.deprecatedAt as an ISO 8601 time/);
    await expect(withDates({ deprecatedAt: '2026-01-01', sunsetAt: '2025-01-01' })).rejects.toThrow(/sunsetAt before/);
  });
});
