/** Whatever is nested in whatever, the number of SQL statements does not grow with the number of rows. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrders, callerOf, openTestOrders } from './test-orders.ts';

let orders: TestOrders;
const admin = callerOf('usr_admin', 'ADMIN');
const users = Array.from({ length: 50 }, (_, i) => `usr_${String(i)}`);

beforeAll(async () => {
  orders = await openTestOrders(process.env['TEST_PG_URL']);
  const products = await Promise.all(Array.from({ length: 10 }, () => orders.createProduct()));
  await orders.createOrders(
    users.flatMap((customerId, i) => products.slice(0, i % 4).map(({ id: productId }) => ({ customerId, productId }))),
  );
});
afterAll(() => orders.close());

const ENTITIES = (fields: string) => `query ($of: [_Any!]!) { _entities(representations: $of) { ... on User { ${fields} } } }`;

/** Runs a query on the first `count` accounts; gives the data and how many statements it took. */
async function ask(count: number, fields: string) {
  const variables = { of: users.slice(0, count).map((id) => ({ __typename: 'User', id })) };
  const before = await orders.countStatements();
  const { data, codes } = await orders.run<{ _entities: unknown[] }>(ENTITIES(fields), { caller: admin, variables });
  expect(codes).toEqual({});
  return { entities: data._entities, statements: (await orders.countStatements()) - before };
}

describe('a query on 50 accounts', () => {
  it.each([
    ['the currencies of items', 'orders { items { currency } }', 3],
    ['orders, items and products', 'orders { items { product { name } } }', 3],
    ['invoices and payments', 'orders { invoice { number isPaid order { id } } payments { id } }', 4],
    ['pages of orders', 'ordersConnection(first: 2, orderBy: [{ field: TOTAL }]) { edges { node { id } } }', 1],
    ['pages of orders with their totals', 'ordersConnection(first: 2) { totalCount edges { node { id } } }', 2],
    ['whether there are any orders', 'hasOrders', 1],
  ])('reads %s in as many statements as for 2 accounts', async (_, fields, statements) => {
    await ask(2, fields);
    expect((await ask(4, fields)).statements).toBe(statements);
    expect((await ask(50, fields)).statements).toBe(statements);
  });

  it('reads the orders of each account', async () => {
    const { entities } = await ask(
      50,
      'orders { customer { id } } hasOrders ordersConnection(first: 1) { totalCount pageInfo { hasNextPage } }',
    );
    expect(entities).toEqual(
      users.map((id, i) => ({
        orders: Array(i % 4).fill({ customer: { id } }),
        hasOrders: i % 4 > 0,
        ordersConnection: { totalCount: i % 4, pageInfo: { hasNextPage: i % 4 > 1 } },
      })),
    );
  });
});
