/** Who sees what through the real schema (contract §3, "Who may do what"). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import { type TestOrders, buy, callerOf, openTestOrders } from './test-orders.ts';

let orders: TestOrders;
const owner = callerOf('usr_owner');
const admin = callerOf('usr_admin', 'ADMIN');
const moderator = callerOf('usr_moderator', 'MODERATOR');
/** The owner's order, and one of each type that belongs to it. */
let kinds: { __typename: string; id: string }[];

beforeAll(async () => {
  orders = await openTestOrders(process.env['TEST_PG_URL']);
  const { id: productId } = await orders.createProduct();
  const order = await orders.orders.create(owner.userId, buy({ productId, qty: 2 }));
  const visibility = { all: true } as const;
  const payment = await orders.payments.create({ amount: 200, currency: 'EUR', customerId: owner.userId, orderId: order.id }, visibility);
  const [item] = await orders.orders.findItems([order.id]);
  const [invoice] = await orders.orders.findInvoices([order.id]);
  kinds = [
    { __typename: 'Order', id: order.id },
    { __typename: 'OrderItem', id: item?.id ?? '' },
    { __typename: 'Invoice', id: invoice?.id ?? '' },
    { __typename: 'Payment', id: payment.id },
  ];
});
afterAll(() => orders.close());

async function resolve(of: object[], caller?: Caller): Promise<unknown[]> {
  const { data, codes } = await orders.run<{ _entities: unknown[] }>(
    'query ($of: [_Any!]!) { _entities(representations: $of) { ... on Node { id } } }',
    { variables: { of }, ...(caller && { caller }) },
  );
  expect(codes).toEqual({});
  return data._entities;
}

describe('an order, its items, invoice and payment', () => {
  it('exist for their customer and administrators only', async () => {
    const all = kinds.map(({ id }) => ({ id }));
    const none = kinds.map(() => null);
    expect(await resolve(kinds, owner)).toEqual(all);
    expect(await resolve(kinds, admin)).toEqual(all);
    expect(await resolve(kinds, moderator)).toEqual(none);
    expect(await resolve(kinds)).toEqual(none);
  });

  it('do not exist for strings that are not ids', async () => {
    for (const id of ['', 'ord_1', '99999999999', '1e0'])
      for (const { __typename } of [...kinds, { __typename: 'Product' }])
        expect(await resolve([{ __typename, id }], admin)).toEqual([null]);
    expect(await orders.run('{ order(id: "x") { id } payment(id: "x") { id } product(id: "x") { id } }', { caller: admin })).toEqual({
      data: { order: null, payment: null, product: null },
      codes: {},
    });
    expect((await orders.run('mutation { cancelOrder(id: "x") { id } }', { caller: admin })).codes).toEqual({ cancelOrder: 'NOT_FOUND' });
  });

  it('are VALIDATION_ERROR for ids with characters that PostgreSQL does not store', async () => {
    const id = 'VALIDATION_ERROR';
    expect(
      (await orders.run('{ order(id: "\\u0000") { id } payment(id: "\\u0000") { id } product(id: "\\u0000") { id } }', { caller: admin }))
        .codes,
    ).toEqual({ order: id, payment: id, product: id });
    expect((await orders.run('mutation { cancelOrder(id: "\\u0000") { id } }', { caller: admin })).codes).toEqual({ cancelOrder: id });
  });
});

describe('the orders of an account', () => {
  const ask = (fields: string, caller?: Caller) =>
    orders.run<{ _entities: unknown[] }>(
      `{ _entities(representations: [{ __typename: "User", id: "usr_owner" }]) { ... on User { ${fields} } } }`,
      {
        ...(caller && { caller }),
      },
    );

  it('are empty, null or NOT_FOUND for other callers', async () => {
    expect(await ask('orders { id } hasOrders', moderator)).toEqual({ data: { _entities: [{ orders: [], hasOrders: null }] }, codes: {} });
    expect(await ask('ordersConnection { totalCount }', moderator)).toEqual({
      data: { _entities: [{ ordersConnection: null }] },
      codes: { '_entities.0.ordersConnection': 'NOT_FOUND' },
    });
    expect((await ask('hasOrders')).data).toEqual({ _entities: [{ hasOrders: null }] });
    expect((await ask('hasOrders', owner)).data).toEqual({ _entities: [{ hasOrders: true }] });
  });

  it('are not hinted at for a credential without the scope orders:read', async () => {
    const limited = { ...owner, scopes: new Set(['users:read'] as const) };
    expect((await ask('hasOrders', limited)).data).toEqual({ _entities: [{ hasOrders: null }] });
  });

  it('are at most the newest 100 as a plain list', async () => {
    const { id: productId } = await orders.createProduct();
    const ids = await orders.createOrders(
      Array.from({ length: 120 }, (_, i) => ({ customerId: 'usr_many', productId, createdAt: new Date(Date.UTC(2026, 0, 1, 0, 0, i)) })),
    );
    const { data } = await orders.run<{ _entities: { orders: { id: string }[] }[] }>(
      '{ _entities(representations: [{ __typename: "User", id: "usr_many" }]) { ... on User { orders { id } } } }',
      { caller: admin },
    );
    expect(data._entities[0]?.orders.map(({ id }) => id)).toEqual(ids.toReversed().slice(0, 100));
  });

  it('are found by customerId only by callers who may see them', async () => {
    const query = '{ ordersConnection(filter: { customerId: "usr_owner" }) { totalCount edges { node { total } } } }';
    expect((await orders.run(query, { caller: admin })).data).toMatchObject({ ordersConnection: { totalCount: 1 } });
    expect((await orders.run(query, { caller: owner })).data).toMatchObject({ ordersConnection: { totalCount: 1 } });
    expect((await orders.run(query, { caller: moderator })).data).toEqual({ ordersConnection: { totalCount: 0, edges: [] } });
    expect((await orders.run(query)).codes).toEqual({ ordersConnection: 'UNAUTHORIZED' });
  });
});

describe('payments', () => {
  it('are listed for their customer, and for administrators all of them', async () => {
    const ask = (filter: string, caller?: Caller) =>
      orders.run(`{ paymentsConnection(filter: { ${filter} }) { totalCount edges { node { id } } } }`, { ...(caller && { caller }) });
    const id = kinds.find(({ __typename }) => __typename === 'Payment')?.id;
    const one = { paymentsConnection: { totalCount: 1, edges: [{ node: { id } }] } };
    const none = { paymentsConnection: { totalCount: 0, edges: [] } };
    const ofOrder = `orderId: "${kinds[0]?.id ?? ''}"`;
    for (const filter of [ofOrder, `${ofOrder}, customerId: "usr_owner"`]) {
      expect((await ask(filter, owner)).data).toEqual(one);
      expect((await ask(filter, admin)).data).toEqual(one);
      expect((await ask(filter, moderator)).data).toEqual(none);
      expect((await ask(filter)).codes).toEqual({ paymentsConnection: 'UNAUTHORIZED' });
    }
    expect((await ask('customerId: "\\u0000", orderId: "\\u0000"', admin)).codes).toEqual({ paymentsConnection: 'VALIDATION_ERROR' });
  });
});

describe('filters', () => {
  it('refuse strings that PostgreSQL does not store, and name every faulty field', async () => {
    expect((await orders.run('{ ordersConnection(filter: { customerId: "\\u0000" }) { totalCount } }', { caller: admin })).codes).toEqual({
      ordersConnection: 'VALIDATION_ERROR',
    });
    expect((await orders.run('{ productsConnection(filter: { name: "\\u0000", search: "\\u0000" }) { totalCount } }')).codes).toEqual({
      productsConnection: 'VALIDATION_ERROR',
    });
  });
});

describe('a mutation', () => {
  it('is visible to the reads after it, also within one request', async () => {
    const { id: productId } = await orders.createProduct();
    const { id } = await orders.orders.create(owner.userId, buy({ productId, qty: 1 }));
    const { data, codes } = await orders.run(
      `mutation { createPayment(input: { amount: 100, currency: "eur", customerId: "usr_owner", orderId: "${id}" }) { order { status payments { status } } }
       cancelOrder(id: "${id}") { payments { status order { status } } items { product { stock } } } }`,
      { caller: owner },
    );
    expect(codes).toEqual({});
    expect(data).toEqual({
      createPayment: { order: { status: 'PAID', payments: [{ status: 'SUCCEEDED' }] } },
      cancelOrder: { payments: [{ status: 'REFUNDED', order: { status: 'CANCELLED' } }], items: [{ product: { stock: 10 } }] },
    });
  });

  it('is NOT_FOUND for a hidden order, and FORBIDDEN for a payment of another customer', async () => {
    const pay = (customerId: string, orderId: string) =>
      `mutation { createPayment(input: { amount: 200, currency: "EUR", customerId: "${customerId}", orderId: "${orderId}" }) { id } }`;
    const id = kinds[0]?.id ?? '';
    expect((await orders.run(pay('usr_owner', id), { caller: moderator })).codes).toEqual({ createPayment: 'FORBIDDEN' });
    expect((await orders.run(pay('usr_moderator', id), { caller: moderator })).codes).toEqual({ createPayment: 'NOT_FOUND' });
    expect((await orders.run(pay('usr_moderator', id), { caller: admin })).codes).toEqual({ createPayment: 'NOT_FOUND' });
    expect((await orders.run(pay('usr_owner', id), { caller: owner })).codes).toEqual({ createPayment: 'BUSINESS_RULE_VIOLATION' });
    expect((await orders.run(`mutation { advanceOrder(id: "${id}", to: SHIPPED) { id } }`, { caller: moderator })).codes).toEqual({
      advanceOrder: 'FORBIDDEN',
    });
  });
});
