/** Products that an administrator's credentials write: only within their scopes, by REST and GraphQL (spec §5.5). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '@trestle/identity/scopes';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let admin: Account;
let ada: Account;
let productId: string;

const PRODUCT = { name: 'Lamp', category: 'lamps', price: 500, currency: 'EUR', stock: 3 };

beforeAll(async () => {
  stack = await leaseStack();
  [admin, ada] = [await stack.createAccount('Root', 'ADMIN'), await stack.createAccount('Ada')];
  const { status, body } = await stack.call('POST', '/v1/products', { token: admin.token, body: PRODUCT });
  expect(status).toBe(201);
  productId = String((body as { id: unknown }).id);
});
afterAll(() => stack.stop());

async function createKey(account: Account, scopes?: readonly Scope[]): Promise<string> {
  const { body } = await stack.call('POST', '/v1/api-keys', { token: account.token, body: { name: 'Tests', scopes } });
  return (body as { secret: string }).secret;
}

/** Sets the price of the product by GraphQL; returns the code of the error, or the price. */
async function setPrice(headers: Readonly<Record<string, string>>, price: number) {
  const query = `mutation { updateProduct(id: ${productId}, input: { price: ${String(price)} }) { price } }`;
  const { body } = await request(`${stack.gateway}/graphql`, { method: 'POST', headers, body: { query } });
  const { data, errors } = body as { data?: { updateProduct: typeof PRODUCT } | null; errors?: { extensions: { code: string } }[] };
  return errors?.[0]?.extensions.code ?? data?.updateProduct.price;
}

describe('a key of an administrator', () => {
  it.each<[string, readonly Scope[] | undefined]>([
    ['without named scopes', undefined],
    ['with orders:write', ['orders:write']],
    ['with account:manage', ['account:manage']],
  ])('%s creates and changes products', async (_, scopes) => {
    const headers = { 'x-api-key': await createKey(admin, scopes) };
    expect((await stack.call('POST', '/v1/products', { headers, body: PRODUCT })).status).toBe(201);
    expect((await stack.call('PATCH', `/v1/products/${productId}`, { headers, body: { price: 700 } })).status).toBe(200);
    expect(await setPrice(headers, 800)).toBe(800);
  });

  it('without these scopes is refused by 403 that names one, and changes nothing', async () => {
    const headers = { 'x-api-key': await createKey(admin, ['posts:read', 'orders:read', 'payments:write']) };
    const before = await stack.sql('orders', 'SELECT * FROM products ORDER BY id');
    const replies = [
      await stack.call('POST', '/v1/products', { headers, body: PRODUCT }),
      await stack.call('PATCH', `/v1/products/${productId}`, { headers, body: { price: 0 } }),
    ];
    for (const reply of replies)
      expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([
        403,
        'Bearer realm="api", error="insufficient_scope", scope="orders:write"',
      ]);
    expect(await setPrice(headers, 0)).toBe('FORBIDDEN');
    expect(await stack.sql('orders', 'SELECT * FROM products ORDER BY id')).toEqual(before);
  });
});

it('lets no key of another account write products, whatever its scopes', async () => {
  const headers = { 'x-api-key': await createKey(ada, ['orders:write', 'account:manage']) };
  expect((await stack.call('PATCH', `/v1/products/${productId}`, { headers, body: { price: 0 } })).status).toBe(403);
  expect(await setPrice(headers, 0)).toBe('FORBIDDEN');
});
