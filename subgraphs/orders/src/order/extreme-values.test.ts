/** Orders that cost nothing, and stock at the largest integer. Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createOldTestDatabase } from '@trestle/postgres/old-test-database';
import pg from 'pg';
import { MAX_INT } from '../product/rules.ts';
import { type TestOrders, buy, openTestOrders } from '../test-orders.ts';

let shop: TestOrders;
const visibility = { all: true } as const;

beforeAll(async () => {
  shop = await openTestOrders(process.env['TEST_PG_URL']);
});
afterAll(() => shop.close());

const createProduct = (stock: number, price = 100) => shop.createProduct({ stock, price }).then(({ id }) => id);
/** The form of all times of the API (spec §2.1). */
const toUtc = (time: Date) => time.toISOString().replace('.000Z', 'Z');
const stockOf = async (id: number) => (await shop.prisma.product.findUnique({ where: { id } }))?.stock;

describe('an order with nothing to pay', () => {
  it('is paid when it is placed, reports both steps, and can be cancelled', async () => {
    const productId = await createProduct(5, 0);
    const order = await shop.orders.create('usr_free', buy({ productId, qty: 2 }));
    expect(order).toMatchObject({ status: 'PAID', total: 0, version: 2 });
    const cancelled = await shop.orders.cancel(order.id, { visibility });
    expect(cancelled).toMatchObject({ status: 'CANCELLED', version: 3 });
    expect(await stockOf(productId)).toBe(5);
    const events = await shop.prisma.$queryRaw`SELECT "type", "data" FROM "outbox" WHERE "subject" = ${order.id} ORDER BY "position"`;
    expect(events).toEqual([
      { type: 'order.created', data: { status: 'PENDING', version: 1 } },
      { type: 'order.paid', data: { from: 'PENDING', status: 'PAID', version: 2, updatedAt: toUtc(order.updatedAt) } },
      { type: 'order.cancelled', data: { from: 'PAID', status: 'CANCELLED', version: 3, updatedAt: toUtc(cancelled.updatedAt) } },
    ]);
  });

  it('is pending as soon as one of its products has a price', async () => {
    const lines = [await createProduct(1, 0), await createProduct(1, 1)].map((productId) => ({ productId, qty: 1 }));
    expect(await shop.orders.create('usr_free', buy(...lines))).toMatchObject({ status: 'PENDING', total: 1, version: 1 });
  });

  it('is paid by the migration when it was placed before it, and other orders stay as they are', async () => {
    const adminUrl = process.env['TEST_PG_URL'] ?? '';
    const database = await createOldTestDatabase({ subgraph: 'orders', adminUrl, before: '20261222000000_free_orders' });
    const client = new pg.Client({ connectionString: database.url });
    try {
      await client.connect();
      await client.query(`INSERT INTO orders (id, "customerId", status, total, currency) VALUES
        ('ord_1', 'usr_1', 'PENDING', 0, 'EUR'), ('ord_2', 'usr_1', 'CANCELLED', 0, 'EUR'), ('ord_3', 'usr_1', 'PENDING', 1, 'EUR')`);
      await database.upgrade();
      expect((await client.query('SELECT id, status, version FROM orders ORDER BY id')).rows).toEqual([
        { id: 'ord_1', status: 'PAID', version: 2 },
        { id: 'ord_2', status: 'CANCELLED', version: 1 },
        { id: 'ord_3', status: 'PENDING', version: 1 },
      ]);
      const { rows } = await client.query(`SELECT subject, data->>'from' AS from FROM outbox WHERE type = 'order.paid'`);
      expect(rows).toEqual([{ subject: 'ord_1', from: 'PENDING' }]);
    } finally {
      await client.end();
      await database.drop();
    }
  });
});

describe('a cancelled order', () => {
  it('returns no more to the stock than the largest integer', async () => {
    const [rope, hook] = [await createProduct(5), await createProduct(5)];
    const { id } = await shop.orders.create('usr_full', buy({ productId: rope, qty: 2 }, { productId: hook, qty: 2 }));
    await shop.products.update(rope, { stock: MAX_INT - 1 }, { expectedVersions: null });
    expect(await shop.orders.cancel(id, { visibility })).toMatchObject({ status: 'CANCELLED' });
    expect([await stockOf(rope), await stockOf(hook)]).toEqual([MAX_INT, 5]);
  });
});
