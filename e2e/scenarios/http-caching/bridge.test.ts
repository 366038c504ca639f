/** What shared caches may keep of the REST API and of the gateway of the whole system (contract §4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { CACHES, startCache } from '../../stack/processes/caches.ts';
import type { Front } from '../../stack/processes/front.ts';
import { type LeasedStack, SPECIAL_SETTINGS, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

const ORIGIN = SPECIAL_SETTINGS.CORS_ORIGINS;
const HINT = 'public, max-age=30';
const REVALIDATED = 'public, max-age=0, must-revalidate';

let stack: LeasedStack;
let ada: Account;
let admin: Account;
let productId: number;
let postId: string;
let draftId: string;
beforeAll(async () => {
  stack = await leaseStack({ env: SPECIAL_SETTINGS });
  [ada, admin] = [await stack.createAccount('Ada'), await stack.createAccount('Root', 'ADMIN')];
  const [product] = await stack.sql(
    'orders',
    `INSERT INTO products (name, description, category, price, currency, stock) VALUES ('Rope', 'Long', 'ropes', 500, 'EUR', 50) RETURNING id`,
  );
  productId = (product as { id: number }).id;
  const create = async (status: string) =>
    (
      (await stack.call('POST', `/v1/posts`, { token: ada.token, body: { title: 'T', body: 'B', status, tags: [] } })).body as {
        id: string;
      }
    ).id;
  [postId, draftId] = [await create('published'), await create('draft')];
});
afterAll(() => stack.stop());

const get = (path: string, token?: string, headers: Record<string, string> = {}) => stack.call('GET', path, { token, headers });
const cacheControlOf = async (...given: Parameters<typeof get>) => (await get(...given)).headers.get('cache-control');

describe('Cache-Control of the REST API', () => {
  it('lets shared caches keep products and published posts, alone and in lists', async () => {
    for (const path of [`/v1/products/${String(productId)}`, '/v1/products', '/v2/products', `/v1/posts/${postId}`, '/v1/posts'])
      expect([path, await cacheControlOf(path)]).toEqual([path, HINT]);
    expect(await cacheControlOf(`/v1/posts/${postId}?fields=id,title`)).toBe(HINT);
  });

  it('makes caches revalidate comments, accounts and searches', async () => {
    for (const path of [`/v1/posts/${postId}?include=comments`, `/v1/posts/${postId}/comments`, '/v1/users', `/v1/users/${ada.id}`])
      expect([path, await cacheControlOf(path)]).toEqual([path, REVALIDATED]);
  });

  it('lets nobody but the client keep what was read with a credential, and errors not at all', async () => {
    expect(await cacheControlOf(`/v1/products/${String(productId)}`, ada.token)).toBe('private, no-cache');
    expect(await cacheControlOf(`/v1/posts/${draftId}`, ada.token)).toBe('private, no-cache');
    expect(await cacheControlOf(`/v1/posts/${draftId}`)).toBe('no-store');
    expect(await cacheControlOf('/v1/products/999999')).toBe('no-store');
    expect(await cacheControlOf('/v1/users/me/orders')).toBe('no-store');
  });

  it('answers 304 with the Cache-Control and the Vary of the 200', async () => {
    const first = await get(`/v1/products/${String(productId)}`, undefined, { origin: ORIGIN });
    const etag = first.headers.get('etag') ?? '';
    const second = await get(`/v1/products/${String(productId)}`, undefined, { 'if-none-match': etag, origin: ORIGIN });
    expect([second.status, second.headers.get('cache-control'), second.headers.get('etag')]).toEqual([304, HINT, etag]);
    expect(second.headers.get('vary')).toBe(first.headers.get('vary'));
    const vary = first.headers.get('vary')?.split(', ') ?? [];
    for (const name of ['Authorization', 'X-API-Key', 'Accept', 'Accept-Encoding', 'API-Version', 'Origin']) expect(vary).toContain(name);
  });
});

describe('Cache-Control of the gateway', () => {
  const query = (text: string, token?: string) =>
    request(`${stack.gateway}/graphql?query=${encodeURIComponent(text)}`, { method: 'GET', token }).then(({ headers }) =>
      headers.get('cache-control'),
    );

  it('lets shared caches keep products and published posts that anonymous clients read', async () => {
    const PRODUCT = `{ product(id: "${String(productId)}") { id name price stock } }`;
    expect([await query(PRODUCT), await query(PRODUCT, ada.token)]).toEqual([HINT, 'no-store']);
    expect(await query('{ productsConnection(first: 2) { edges { node { name } } pageInfo { hasNextPage } totalCount } }')).toBe(HINT);
    expect(await query(`{ post(id: "${postId}") { title author { id name } } }`)).toBe(HINT);
    expect(await query(`{ post(id: "${postId}") { title comments { totalCount } } }`)).toBe('no-store');
  });

  it('lets nobody keep what depends on the caller', async () => {
    for (const text of [
      '{ me { id } }',
      `{ user(id: "${ada.id}") { name } }`,
      `{ post(id: "${postId}") { author { email } } }`,
      `{ post(id: "${postId}") { author { orders { id } } } }`,
      `{ node(id: "${postId}") { id } }`,
    ])
      expect([text, await query(text)]).toEqual([text, 'no-store']);
  });
});

describe.each(CACHES)('the cache $name', ({ name, isInstalled }) => {
  const test = isInstalled ? it : it.skip;
  let front: Front;
  beforeAll(async () => {
    if (isInstalled) front = await startCache(name, Number(new URL(stack.direct.rest).port));
  });
  afterAll(() => (isInstalled ? front.stop() : undefined));

  const read = async (path: string, { token, headers }: { token?: string; headers?: Record<string, string> } = {}) => {
    const reply = await request(`${front.url}${path}`, { method: 'GET', token, headers: headers ?? {} });
    return { ...reply, cache: reply.headers.get('x-cache') };
  };
  /** A client may have a response before the cache has stored it. */
  const isKept = (path: string) => until(async () => (await read(path)).cache === 'HIT');

  test('serves products and posts to anonymous clients only', async () => {
    for (const path of [`/v1/products/${String(productId)}`, '/v1/products', `/v1/posts/${postId}`]) {
      const first = await read(path);
      expect(first.cache).toBe('MISS');
      await isKept(path);
      expect((await read(path)).text).toBe(first.text);
      const own = [await read(path, { token: ada.token }), await read(path, { token: ada.token })];
      expect(own.map(({ cache, status }) => [cache, status])).toEqual([
        ['MISS', 200],
        ['MISS', 200],
      ]);
      expect((await read(path, { headers: { 'x-api-key': 'unknown' } })).status).toBe(401);
      expect((await read(path)).cache).toBe('HIT');
    }
  });

  test('does not give the response of one origin to another', async () => {
    const path = `/v1/products/${String(productId)}?fields=name`;
    const allowed = await read(path, { headers: { origin: ORIGIN } });
    expect([allowed.cache, allowed.headers.get('access-control-allow-origin')]).toEqual(['MISS', ORIGIN]);
    const other = await read(path, { headers: { origin: 'https://other.example.com' } });
    expect([other.cache, other.headers.get('access-control-allow-origin')]).toEqual(['MISS', null]);
    expect((await read(path, { headers: { origin: ORIGIN } })).headers.get('access-control-allow-origin')).toBe(ORIGIN);
  });

  test('answers 304 to the ETag of what it keeps', async () => {
    const path = `/v1/products/${String(productId)}?fields=price`;
    const etag = (await read(path)).headers.get('etag') ?? '';
    await isKept(path);
    const second = await read(path, { headers: { 'if-none-match': etag } });
    expect([second.status, second.cache]).toEqual([304, 'HIT']);
  });

  test('keeps neither accounts nor errors', async () => {
    for (const path of [`/v1/users/${ada.id}`, '/v1/products/999999', `/v1/posts/${draftId}`])
      expect([(await read(path)).cache, (await read(path)).cache]).not.toContain('HIT');
    expect((await read(`/v1/posts/${draftId}`, { token: admin.token })).status).toBe(200);
    expect((await read(`/v1/posts/${draftId}`)).status).toBe(404);
  });
});
