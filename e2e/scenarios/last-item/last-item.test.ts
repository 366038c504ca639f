/** Stock, payments and cancellations when many come at once (spec §3, contract §3). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;

beforeAll(async () => {
  stack = await leaseStack();
  [ada, bob] = await Promise.all([stack.createAccount('Ada'), stack.createAccount('Bob')]);
});
afterAll(() => stack.stop());

async function createProduct(stock: number): Promise<number> {
  const [row] = await stack.sql<{ id: number }>(
    'orders',
    `INSERT INTO products (name, description, category, price, currency, stock) VALUES ('Rope', 'Strong', 'ropes', 1250, 'EUR', $1) RETURNING id`,
    [stock],
  );
  return row?.id ?? 0;
}

const order = (account: Account, productId: number, qty = 1) =>
  stack.call('POST', '/v1/orders', { token: account.token, body: { productId, qty } });

describe('POST /orders', () => {
  it('sells the last item to one of two concurrent buyers; the other gets 422', async () => {
    const productId = await createProduct(1);
    const replies = await Promise.all([order(ada, productId), order(bob, productId)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 422]);
    const [{ stock } = { stock: -1 }] = await stack.sql<{ stock: number }>('orders', 'SELECT stock FROM products WHERE id = $1', [
      productId,
    ]);
    expect(stock).toBe(0);
  });

  it('answers 201 with Location and an order with links to follow', async () => {
    const productId = await createProduct(5);
    const { status, headers, body } = await order(ada, productId, 2);
    expect(status).toBe(201);
    const placed = body as { id: string; _links: Record<string, { href: string; method?: string }> };
    expect(headers.get('location')).toBe(`/v1/orders/${placed.id}`);
    expect(placed).toMatchObject({ status: 'pending', total: 2500, currency: 'EUR', customer: { id: ada.id, name: 'Ada' } });
    expect(placed._links['cancel']).toEqual({ href: `/v1/orders/${placed.id}/cancel`, method: 'POST' });
    for (const relation of ['self', 'customer', 'invoice', 'items']) {
      expect((await stack.call('GET', placed._links[relation]?.href ?? '', { token: ada.token })).status).toBe(200);
    }
  });

  it('answers 400 for wrong types, 422 for an unknown product and 401 for anonymous callers', async () => {
    expect((await stack.call('POST', '/v1/orders', { token: ada.token, body: { productId: true, qty: 'two' } })).status).toBe(400);
    expect((await order(ada, 2_000_000_000)).status).toBe(422);
    expect((await stack.call('POST', '/v1/orders', { body: { productId: 1, qty: 1 } })).status).toBe(401);
  });
});

describe('an order', () => {
  it('is answered with 404, not 403, to other callers', async () => {
    const { id } = (await order(ada, await createProduct(1))).body as { id: string };
    expect((await stack.call('GET', `/v1/orders/${id}`, { token: bob.token })).status).toBe(404);
    expect((await stack.call('POST', `/v1/orders/${id}/cancel`, { token: bob.token })).status).toBe(404);
    expect((await stack.call('GET', `/v1/users/${ada.id}/orders`, { token: bob.token })).status).toBe(404);
    const own = (await stack.call('GET', `/v1/users/${ada.id}/orders?status=pending`, { token: ada.token })).body as {
      data: { id: string }[];
    };
    expect(own.data.map((each) => each.id)).toContain(id);
  });

  it('is cancelled once by ten concurrent requests, and its stock is restored', async () => {
    const productId = await createProduct(3);
    const { id } = (await order(ada, productId, 3)).body as { id: string };
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => stack.call('POST', `/v1/orders/${id}/cancel`, { token: ada.token })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(9).fill(422)]);
    const rows = await stack.sql<{ stock: number }>('orders', 'SELECT stock FROM products WHERE id = $1', [productId]);
    expect(rows).toEqual([{ stock: 3 }]);
  });

  it('is paid once by ten concurrent requests', async () => {
    const { id, total } = (await order(ada, await createProduct(1))).body as { id: string; total: number };
    const pay = () =>
      stack.graphql<{ createPayment: { id: string } }>('mutation($i: CreatePaymentInput!) { createPayment(input: $i) { id } }', {
        token: ada.token,
        variables: { i: { amount: total, currency: 'eur', customerId: ada.id, orderId: id } },
      });
    const replies = await Promise.all(Array.from({ length: 10 }, pay));
    expect(replies.filter(({ data }) => data).length).toBe(1);
    const payments = await stack.sql('orders', 'SELECT id FROM payments WHERE "orderId" = $1', [id]);
    expect(payments).toHaveLength(1);
    expect((await stack.call('GET', `/v1/orders/${id}`, { token: ada.token })).body).toMatchObject({ status: 'paid' });
  });
});
