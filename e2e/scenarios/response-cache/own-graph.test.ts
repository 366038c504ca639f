/** The response cache with tokens that are checked, in the graph of this repository and behind its REST API. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;
let gateway: RunningProcess;
let bridge: RunningProcess;
beforeAll(async () => {
  stack = await leaseStack();
  [ada, bob] = [await stack.createAccount('Ada'), await stack.createAccount('Bob')];
  gateway = await stack.startGateway({ RESPONSE_CACHE: 'memory' });
  bridge = await stack.startBridge({ GATEWAY_URL: `${gateway.url}/graphql` });
});
afterAll(() => stack.stop());

const createPost = async (status: string) => {
  const { body } = await stack.call('POST', '/v1/posts', { token: ada.token, body: { title: 'Old', body: 'B', status, tags: [] } });
  return (body as { id: string }).id;
};
const rest = (method: string, path: string, options: { token?: string; body?: unknown } = {}) =>
  request(`${bridge.url}${path}`, { method, ...options });
const statusOf = async (query: string, token?: string) =>
  (await request(`${gateway.url}/graphql`, { method: 'POST', body: { query }, token })).headers.get('cache-status');

it('does not give the draft of an author to another client, and keeps it for the author alone', async () => {
  const query = `{ post(id: "${await createPost('draft')}") { title } }`;
  const read = async (token?: string) => (await request(`${gateway.url}/graphql`, { method: 'POST', body: { query }, token })).text;
  expect(await read(ada.token)).toContain('Old');
  expect(await statusOf(query, ada.token)).toMatch(/^Trestle; hit/);
  for (const token of [undefined, bob.token]) expect(await read(token)).not.toContain('Old');
});

it('passes Age on through the REST API, and shows authors their changes at once', async () => {
  const path = `/v1/posts/${await createPost('published')}`;
  const [first, second] = [await rest('GET', path), await rest('GET', path)];
  expect([first.headers.get('age'), second.headers.get('age')]).toEqual([null, expect.stringMatching(/^\d+$/)]);
  expect([second.text, second.headers.get('cache-control')]).toEqual([first.text, 'public, max-age=30']);
  await rest('GET', path, { token: ada.token });
  expect((await rest('PATCH', path, { token: ada.token, body: { title: 'New' } })).status).toBe(200);
  for (const token of [ada.token, undefined])
    expect((await rest('GET', path, token ? { token } : {})).body).toMatchObject({ title: 'New' });
});

it('refuses a token that was revoked, whose results it has', async () => {
  const carl = await stack.createAccount('Carl');
  const query = '{ productsConnection(first: 1) { totalCount } }';
  await statusOf(query, carl.token);
  expect(await statusOf(query, carl.token)).toMatch(/^Trestle; hit/);
  await request(`${gateway.url}/graphql`, { method: 'POST', body: { query: 'mutation { logout }' }, token: carl.token });
  expect((await request(`${gateway.url}/graphql`, { method: 'POST', body: { query }, token: carl.token })).status).toBe(401);
});

it('invalidates by events of a subscription that needs rights, when the change comes by REST through another gateway', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'trestle-cache-events-'));
  const file = join(folder, 'events.graphql');
  const subscription = 'subscription Orders { orderStatusChanged { __typename id } }';
  await writeFile(file, subscription);
  const admin = await stack.createAccount('Admin', 'ADMIN');
  const caching = await stack.startGateway({
    RESPONSE_CACHE: 'memory',
    RESPONSE_CACHE_CONTENTS: 'entities',
    SUBGRAPH_CACHE_TTL_SECONDS: '600',
    RESPONSE_CACHE_SUBSCRIPTIONS_FILE: file,
    RESPONSE_CACHE_SUBSCRIPTIONS_AUTHORIZATION: `Bearer ${admin.token}`,
  });
  await until(async () => (await readMetric(caching.url, 'trestle_response_cache_subscriptions')) === 1);
  // The rights of the gateway are not those of its clients.
  expect(await subscribeTo(caching.url, { query: subscription }).end()).toEqual({ codes: ['UNAUTHORIZED'] });

  const send = async (path: string, token: string, body?: object) =>
    (await stack.call('POST', path, { token, ...(body && { body }) })).body as { id: string };
  const product = await send('/v1/products', admin.token, {
    name: 'Lamp',
    description: 'D',
    category: 'books',
    price: 500,
    currency: 'EUR',
    stock: 5,
  });
  const { id } = await send('/v1/orders', ada.token, { productId: product.id, qty: 1 });
  const read = async () => {
    const body = { query: `{ order(id: "${id}") { status } }` };
    const { text, headers } = await request(`${caching.url}/graphql`, { method: 'POST', body, token: ada.token });
    return { text, cached: headers.get('cache-status') };
  };
  // Everything is invalidated once more, when the subgraph has begun.
  await until(async () => (await read()).cached === 'TrestleEntities; hit');
  expect((await read()).text).toContain('PENDING');
  await send(`/v1/orders/${id}/cancel`, ada.token);
  await until(async () => (await read()).text.includes('CANCELLED'));
  await caching.end('SIGTERM');
  await rm(folder, { recursive: true });
});
