/** Against a real PostgreSQL, with real concurrency. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Database } from '@trestle/chassis/database/database';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import { createIds } from '@trestle/chassis/values/ids';
import { type WindowArguments, parseWindow, toCursor } from '@trestle/chassis/paging/window';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { type OrderStore, ORDER_SORTING, createOrderStore } from './store.ts';
import { type PaymentStore, createPaymentStore } from '../payment/store.ts';
import { openPrisma } from '../stores.ts';
import { buy } from '../test-orders.ts';

let testDatabase: TestDatabase;
let database: Database;
let prisma: ReturnType<typeof openPrisma>;
let orders: OrderStore;
let payments: PaymentStore;
const createId = createIds({ now: Date.now });
const all = { visibility: { all: true } } as const;

beforeAll(async () => {
  testDatabase = await createTestDatabase({ subgraph: 'orders', adminUrl: process.env['TEST_PG_URL'] ?? '' });
  database = openTestDatabase({ url: testDatabase.url, connections: 20 });
  prisma = openPrisma(database);
  const dependencies = { prisma, createId, clock: () => new Date('2026-01-01T00:00:00Z') };
  orders = createOrderStore(dependencies);
  payments = createPaymentStore(dependencies);
});
afterAll(async () => {
  await prisma.$disconnect();
  await database.close();
  await testDatabase.drop();
});

const createProduct = (stock: number, price = 100) =>
  prisma.product.create({ data: { name: 'Rope', description: '', category: 'ropes', price, currency: 'EUR', stock } }).then(({ id }) => id);
const twenty = <T>(task: (i: number) => Promise<T>) => Promise.allSettled(Array.from({ length: 20 }, (_, i) => task(i)));
const won = (outcomes: readonly PromiseSettledResult<unknown>[]) => outcomes.filter(({ status }) => status === 'fulfilled').length;
const codes = (outcomes: readonly PromiseSettledResult<unknown>[]) =>
  new Set(outcomes.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : [])));

describe('an order of several products', () => {
  it('keeps the order of its items, has their total, and has one invoice', async () => {
    const [rope, hook] = [await createProduct(5, 100), await createProduct(5, 30)];
    const order = await orders.create('usr_several', buy({ productId: hook, qty: 3 }, { productId: rope, qty: 2 }));
    expect(order.total).toBe(290);
    expect(await orders.findItems([order.id])).toMatchObject([
      { productId: hook, qty: 3, unitPrice: 30, total: 90 },
      { productId: rope, qty: 2, unitPrice: 100, total: 200 },
    ]);
    expect(await orders.findInvoices([order.id])).toMatchObject([{ total: 290 }]);
    await orders.cancel(order.id, all);
    expect(await prisma.product.findMany({ where: { id: { in: [rope, hook] } } })).toMatchObject([{ stock: 5 }, { stock: 5 }]);
  });

  it('changes nothing when a product is out of stock, unknown, in another currency, or makes it too expensive', async () => {
    const [rope, dear] = [await createProduct(5), await createProduct(5, 2_147_483_647)];
    const { id: dollars } = await prisma.product.create({
      data: { name: 'Rope', description: '', category: 'ropes', price: 1, currency: 'USD', stock: 5 },
    });
    const wanted = { productId: rope, qty: 1 };
    const refused = (line: { productId: number; qty: number }, fields: string[]) =>
      expect(orders.create('usr_nothing', buy(wanted, line))).rejects.toMatchObject({
        code: 'BUSINESS_RULE_VIOLATION',
        details: fields.map((field) => ({ field })),
      });
    await refused({ productId: await createProduct(0), qty: 1 }, ['items.1.qty']);
    await refused({ productId: 2_147_483_647, qty: 1 }, ['items.1.productId']);
    await refused({ productId: dollars, qty: 1 }, ['items']);
    await refused({ productId: dear, qty: 1 }, ['items']);
    await refused({ productId: dear, qty: 1000 }, ['items.1.qty']);
    expect(await prisma.product.findUnique({ where: { id: rope } })).toMatchObject({ stock: 5, version: 1 });
    expect(await prisma.order.count({ where: { customerId: 'usr_nothing' } })).toBe(0);
  });
});

describe('concurrent writes', () => {
  it('sell five items to five of twenty customers, and write nothing for the others', async () => {
    const productId = await createProduct(5);
    const outcomes = await twenty((i) => orders.create(`usr_race_${String(i)}`, buy({ productId, qty: 1 })));
    expect([won(outcomes), codes(outcomes)]).toEqual([5, new Set(['BUSINESS_RULE_VIOLATION'])]);
    expect(await prisma.product.findUnique({ where: { id: productId } })).toMatchObject({ stock: 0, version: 6 });
    expect(await prisma.orderItem.count({ where: { productId } })).toBe(5);
    expect(await prisma.invoice.count({ where: { order: { customerId: { startsWith: 'usr_race_' } } } })).toBe(5);
  });

  it('place orders of several products completely or not at all, without a deadlock', async () => {
    const [rope, hook] = [await createProduct(10), await createProduct(10)];
    const lines = [rope, hook].map((productId) => ({ productId, qty: 1 }));
    const outcomes = await twenty((i) => orders.create(`usr_both_${String(i)}`, buy(...(i % 2 === 0 ? lines : lines.toReversed()))));
    expect([won(outcomes), codes(outcomes)]).toEqual([10, new Set(['BUSINESS_RULE_VIOLATION'])]);
    expect(await prisma.product.findMany({ where: { id: { in: [rope, hook] } } })).toMatchObject([{ stock: 0 }, { stock: 0 }]);
    expect(await prisma.orderItem.count({ where: { productId: { in: [rope, hook] } } })).toBe(20);
  });

  it('cancel an order once, restoring its stock and refunding its payment once', async () => {
    const productId = await createProduct(3);
    const { id, total } = await orders.create('usr_a', buy({ productId, qty: 2 }));
    await payments.create({ amount: total, currency: 'EUR', customerId: 'usr_a', orderId: id }, all.visibility);
    const outcomes = await twenty(() => orders.cancel(id, all));
    expect([won(outcomes), codes(outcomes)]).toEqual([1, new Set(['BUSINESS_RULE_VIOLATION'])]);
    expect((await prisma.product.findUnique({ where: { id: productId } }))?.stock).toBe(3);
    expect(await prisma.payment.findMany({ where: { orderId: id } })).toMatchObject([{ status: 'REFUNDED', version: 2 }]);
  });

  it('accept one payment for an order, and either its payment or its cancellation', async () => {
    const { id, total } = await orders.create('usr_a', buy({ productId: await createProduct(1), qty: 1 }));
    const outcomes = await twenty(() =>
      payments.create({ amount: total, currency: 'EUR', customerId: 'usr_a', orderId: id }, all.visibility),
    );
    expect([won(outcomes), codes(outcomes)]).toEqual([1, new Set(['BUSINESS_RULE_VIOLATION'])]);
    expect(await prisma.order.findUnique({ where: { id } })).toMatchObject({ status: 'PAID', version: 2 });

    const other = await orders.create('usr_a', buy({ productId: await createProduct(1), qty: 1 }));
    await Promise.allSettled([
      orders.cancel(other.id, all),
      payments.create({ amount: other.total, currency: 'EUR', customerId: 'usr_a', orderId: other.id }, all.visibility),
    ]);
    const [order, paid] = await Promise.all([
      prisma.order.findUnique({ where: { id: other.id } }),
      prisma.payment.findMany({ where: { orderId: other.id } }),
    ]);
    expect(order?.status).toBe('CANCELLED');
    expect(paid.every(({ status }) => status === 'REFUNDED')).toBe(true);
  });

  it('restore the stock of every product when twenty orders for the same products are cancelled', async () => {
    const products = await Promise.all(Array.from({ length: 5 }, () => createProduct(10)));
    const placed = await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const id = createId('ord');
        const lines = (i % 2 === 0 ? products : products.toReversed()).map((productId) => ({ id: createId('itm'), productId }));
        await prisma.order.create({
          data: {
            id,
            customerId: 'usr_a',
            total: 500,
            currency: 'EUR',
            items: { create: lines.map((line) => ({ ...line, qty: 1, unitPrice: 100, total: 100 })) },
          },
        });
        return id;
      }),
    );
    expect(won(await twenty((i) => orders.cancel(placed[i] ?? '', all)))).toBe(20);
    const left = await prisma.product.findMany({ where: { id: { in: products } } });
    expect(left.map(({ stock }) => stock)).toEqual([30, 30, 30, 30, 30]);
  });

  it('let one of twenty with the same expected version succeed', async () => {
    const { id, version } = await orders.create('usr_a', buy({ productId: await createProduct(1), qty: 1 }));
    const outcomes = await twenty(() => orders.advance(id, 'PAID', { ...all, expectedVersions: [version] }));
    expect([won(outcomes), codes(outcomes)]).toEqual([1, new Set(['PRECONDITION_FAILED'])]);
  });
});

describe('a write', () => {
  it('throws NOT_FOUND for a hidden order before PRECONDITION_FAILED, and that before BUSINESS_RULE_VIOLATION', async () => {
    const { id } = await orders.create('usr_a', buy({ productId: await createProduct(1), qty: 1 }));
    const other = { all: false, customerId: 'usr_b' } as const;
    await expect(orders.cancel(id, { visibility: other, expectedVersions: [9] })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(orders.cancel('ord_none', all)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(orders.advance(id, 'DELIVERED', { ...all, expectedVersions: [9] })).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    await expect(orders.advance(id, 'DELIVERED', { ...all, expectedVersions: [1] })).rejects.toMatchObject({
      code: 'BUSINESS_RULE_VIOLATION',
    });
    await expect(payments.create({ amount: 100, currency: 'EUR', customerId: 'usr_b', orderId: id }, other)).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('throws BUSINESS_RULE_VIOLATION for an order whose total exceeds the largest integer', async () => {
    const productId = await createProduct(1000, 2_147_483_647);
    await expect(orders.create('usr_a', buy({ productId, qty: 2 }))).rejects.toMatchObject({ code: 'BUSINESS_RULE_VIOLATION' });
    expect((await orders.create('usr_a', buy({ productId, qty: 1 }))).total).toBe(2_147_483_647);
  });
});

describe('a list of orders', () => {
  const mine = { filter: {}, visibility: { all: false, customerId: 'usr_list' } } as const;
  const walk = async (
    args: WindowArguments<'ID' | 'STATUS' | 'TOTAL' | 'CREATED_AT' | 'UPDATED_AT'>,
    backward: boolean,
  ): Promise<string[]> => {
    const ids: string[] = [];
    for (let cursor: string | undefined; ;) {
      const window = parseWindow(
        { ...args, ...(backward ? { last: 3, before: cursor ?? null } : { first: 3, after: cursor ?? null }) },
        ORDER_SORTING,
      );
      const rows = await orders.list(mine, window);
      const page = rows.slice(0, 3);
      ids.push(...page.map(({ id }) => id));
      const last = page.at(-1);
      if (rows.length <= 3 || !last) return ids;
      cursor = toCursor(last, window);
    }
  };

  it('pages through every row once in either direction, by every sort field', async () => {
    for (let i = 1; i <= 11; i++) {
      const { id } = await orders.create('usr_list', buy({ productId: await createProduct(1, (i % 4) * 100), qty: 1 }));
      if (i % 3 === 0) await orders.cancel(id, all);
    }
    for (const field of ['ID', 'STATUS', 'TOTAL', 'CREATED_AT', 'UPDATED_AT'] as const) {
      for (const direction of ['ASC', 'DESC'] as const) {
        const forward = await walk({ orderBy: [{ field, direction }] }, false);
        expect(new Set(forward).size).toBe(11);
        expect((await walk({ orderBy: [{ field, direction }] }, true)).reverse()).toEqual(forward);
      }
    }
  });

  it('contains a page for each of several customers, and no order that the caller may not see', async () => {
    await orders.create('usr_other', buy({ productId: await createProduct(1), qty: 1 }));
    const window = parseWindow({ first: 2 }, ORDER_SORTING);
    const scope = { filter: {}, visibility: { all: true } } as const;
    const loader = orders.pagesBy({ by: 'customerId', scope, window });
    const pages = await Promise.all(['usr_list', 'usr_other', 'usr_nobody'].map((id) => loader.load(id)));
    expect(pages.map(({ edges, pageInfo }) => [edges.map(({ node }) => node.customerId), pageInfo.hasNextPage])).toEqual([
      [['usr_list', 'usr_list'], true],
      [['usr_other'], false],
      [[], false],
    ]);
    expect(await orders.totalsBy({ by: 'customerId', scope: mine }).loadMany(['usr_list', 'usr_other'])).toEqual([11, 0]);
    expect(await orders.count({ filter: {}, visibility: { all: false, customerId: null } })).toBe(0);
  });
});
