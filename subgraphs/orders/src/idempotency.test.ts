/** One key, one write (spec §8, contract §4): by the real schema, on a real PostgreSQL, with real concurrency. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RunOptions, type TestOrders, buy, callerOf, openTestOrders } from './test-orders.ts';

let orders: TestOrders;
let now = new Date('2026-01-01T00:00:00Z');
let productId: number;
const ada = callerOf('usr_ada');
const admin = callerOf('usr_admin', 'ADMIN');

beforeAll(async () => {
  orders = await openTestOrders(process.env['TEST_PG_URL'], { clock: () => now });
  ({ id: productId } = await orders.createProduct({ stock: 1000 }));
});
afterAll(() => orders.close());

let keys = 0;
const nextKey = () => `key-${String(keys++)}`;
const PAY =
  'mutation ($amount: Int!) { pay: createPayment(input: { amount: $amount, currency: "EUR", customerId: "usr_ada" }) { id amount createdAt } }';

interface Sending extends Omit<RunOptions, 'idempotency'> {
  readonly key: string;
  readonly scope?: string;
  readonly isStoredOnly?: boolean;
}

/** Runs an operation under a key; gives the fields' values, the errors' codes, and whether it was a replay. */
async function send(document: string, { key, scope = '', isStoredOnly = false, caller = ada, variables = {} }: Sending) {
  const idempotency = { key, scope, isStoredOnly, replayed: false };
  const { data, codes } = await orders.run<Record<string, unknown> | null>(document, { caller, variables, idempotency });
  return { data, codes: Object.values(codes), replayed: idempotency.replayed };
}
const pay = (key: string, { amount = 100, ...options }: { amount?: number; caller?: typeof ada } & Partial<Sending> = {}) =>
  send(PAY, { ...options, key, variables: { amount } });
/** Has the keys been stored for so much longer, by the clock of the database. */
const age = (interval: string) =>
  orders.prisma.$executeRaw`UPDATE "idempotency_keys" SET "createdAt" = "createdAt" - ${interval}::interval`;
const countPayments = () => orders.prisma.payment.count();
const order = () => orders.orders.create(ada.userId, buy({ productId, qty: 1 }));

describe('an Idempotency-Key', () => {
  it('stores one of 50 concurrent payments; the others get that payment or CONFLICT', async () => {
    const before = await countPayments();
    const key = nextKey();
    const outcomes = await Promise.all(Array.from({ length: 50 }, () => pay(key)));
    expect(await countPayments()).toBe(before + 1);
    const first = outcomes.filter(({ codes, replayed }) => codes.length === 0 && !replayed);
    expect(first).toHaveLength(1);
    for (const { data, codes, replayed } of outcomes)
      expect(replayed ? data : codes).toEqual(replayed ? first[0]?.data : codes.length > 0 ? ['CONFLICT'] : []);
    expect(await pay(key)).toEqual({ data: first[0]?.data, codes: [], replayed: true });
  });

  it('returns the first result again, whatever changed since and whatever version is expected', async () => {
    const { id, version } = await order();
    const cancel = 'mutation ($id: ID!, $at: [Int!]) { cancelOrder(id: $id, expectedVersions: $at) { id status version updatedAt } }';
    const advance = 'mutation ($id: ID!, $at: [Int!]) { advanceOrder(id: $id, to: PAID, expectedVersions: $at) { status version } }';
    const [paid, off] = [nextKey(), nextKey()];
    const first = await send(advance, { key: paid, caller: admin, variables: { id, at: [version] } });
    expect(first).toEqual({ data: { advanceOrder: { status: 'PAID', version: 2 } }, codes: [], replayed: false });
    const second = await send(cancel, { key: off, variables: { id, at: [2] } });
    expect(second).toMatchObject({ data: { cancelOrder: { status: 'CANCELLED', version: 3 } }, replayed: false });
    expect(await send(advance, { key: paid, caller: admin, variables: { id, at: [version] } })).toEqual({ ...first, replayed: true });
    expect(await send(cancel, { key: off, variables: { id, at: [99] } })).toEqual({ ...second, replayed: true });
    expect((await send(cancel, { key: nextKey(), variables: { id, at: [99] } })).codes).toEqual(['PRECONDITION_FAILED']);
  });

  it('gets a stored result only, and writes nothing, when the request wants no more', async () => {
    const [used, unused] = [nextKey(), nextKey()];
    const first = await pay(used);
    const before = await countPayments();
    expect(await pay(used, { isStoredOnly: true })).toEqual({ ...first, replayed: true });
    expect(await pay(unused, { isStoredOnly: true })).toMatchObject({ codes: ['PRECONDITION_FAILED'], replayed: false });
    expect(await countPayments()).toBe(before);
    expect(await pay(unused)).toMatchObject({ codes: [], replayed: false });
  });

  it('is refused with other arguments or for another mutation, and then changes nothing', async () => {
    const key = nextKey();
    await pay(key);
    const before = await countPayments();
    expect(await pay(key, { amount: 101 })).toMatchObject({ codes: ['BUSINESS_RULE_VIOLATION'], replayed: false });
    const buy = `mutation { pay: createOrder(input: { productId: ${String(productId)}, qty: 1 }) { id } }`;
    expect(await send(buy, { key })).toMatchObject({ codes: ['BUSINESS_RULE_VIOLATION'], replayed: false });
    expect(await countPayments()).toBe(before);
  });

  it('stands for another operation with another caller, another scope, or another field of a request', async () => {
    const key = nextKey();
    const of = await Promise.all([
      pay(key),
      pay(key, { caller: admin }),
      pay(key, { scope: 'POST /payments' }),
      send(
        'mutation { a: createPayment(input: { amount: 1, currency: "EUR", customerId: "usr_ada" }) { id } b: createPayment(input: { amount: 1, currency: "EUR", customerId: "usr_ada" }) { id } }',
        { key },
      ),
    ]);
    expect(of.map(({ codes, replayed }) => [codes, replayed])).toEqual(of.map(() => [[], false]));
    const ids = of.flatMap(({ data }) => Object.values(data ?? {}) as { id: string }[]).map(({ id }) => id);
    expect(new Set(ids).size).toBe(5);
  });

  it('can be used again after a write that failed', async () => {
    const { id: scarce } = await orders.createProduct({ stock: 0 });
    const buy = `mutation { createOrder(input: { productId: ${String(scarce)}, qty: 1 }) { status items { qty } invoice { total } } }`;
    const key = nextKey();
    expect((await send(buy, { key })).codes).toEqual(['BUSINESS_RULE_VIOLATION']);
    await orders.prisma.product.update({ where: { id: scarce }, data: { stock: 1 } });
    const first = await send(buy, { key });
    expect(first).toEqual({
      data: { createOrder: { status: 'PENDING', items: [{ qty: 1 }], invoice: { total: 100 } } },
      codes: [],
      replayed: false,
    });
    expect(await send(buy, { key })).toEqual({ ...first, replayed: true });
  });

  it('expires after 24 hours; then it can be used again, and its row is swept', async () => {
    const key = nextKey();
    const first = await pay(key);
    await age('23 hours 59 minutes');
    expect(await pay(key)).toEqual({ ...first, replayed: true });
    await orders.idempotency.sweep();
    expect(await pay(key)).toEqual({ ...first, replayed: true });
    await age('61 seconds');
    const second = await pay(key, { amount: 7 });
    expect(second).toMatchObject({ codes: [], replayed: false, data: { pay: { amount: 7 } } });
    await orders.idempotency.sweep();
    expect(await orders.prisma.idempotencyKey.count()).toBe(1);
    expect(await pay(key, { amount: 7 })).toEqual({ ...second, replayed: true });
  });

  it('is kept, and not used for a second write, when the clock of one process is a day ahead', async () => {
    const key = nextKey();
    const first = await pay(key);
    const at = now;
    now = new Date(Date.now() + 25 * 3_600_000);
    await orders.idempotency.sweep();
    const again = await pay(key);
    now = at;
    expect(again).toEqual({ ...first, replayed: true });
  });

  it('is not stored, and neither are the arguments', async () => {
    await pay('the-clients-secret', { amount: 424_242 });
    const kept = await orders.prisma.idempotencyKey.findMany({ select: { keyHash: true, fingerprint: true } });
    expect(JSON.stringify(kept)).not.toMatch(/secret|424242/);
  });
});

it('a write without an Idempotency-Key needs no further statements', async () => {
  const before = await orders.countStatements();
  await orders.run(`mutation { createOrder(input: { productId: ${String(productId)}, qty: 1 }) { id } }`, { caller: ada });
  expect((await orders.countStatements()) - before).toBe(1);
});
