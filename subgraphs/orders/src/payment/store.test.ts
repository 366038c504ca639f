/** Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type WindowArguments, parseWindow, toCursor } from '@trestle/chassis/paging/window';
import type { PaymentFilter, PaymentOrderField } from '../generated/resolvers.ts';
import { PAYMENT_SORTING } from './store.ts';
import { type TestOrders, openTestOrders } from '../test-orders.ts';

let orders: TestOrders;
const FIELDS = ['ID', 'AMOUNT', 'CREATED_AT'] as const;
const DIRECTIONS = ['ASC', 'DESC'] as const;
const day = (i: number) => new Date(Date.UTC(2026, 0, 1 + i));

beforeAll(async () => {
  orders = await openTestOrders(process.env['TEST_PG_URL']);
  // Many rows have the same value, so that only the id orders them.
  await orders.prisma.payment.createMany({
    data: Array.from({ length: 24 }, (_, i) => ({
      id: orders.createId('pay'),
      customerId: i % 2 === 0 ? 'usr_a' : 'usr_b',
      amount: 1 + (i % 3),
      currency: 'EUR',
      status: i % 4 === 0 ? ('REFUNDED' as const) : ('SUCCEEDED' as const),
      createdAt: day(i % 5),
    })),
  });
});
afterAll(() => orders.close());

const all = (filter: PaymentFilter = {}) => ({ filter, visibility: { all: true } }) as const;

async function walk(orderBy: WindowArguments<PaymentOrderField>['orderBy'], backward: boolean): Promise<string[]> {
  const listing = { filter: {}, visibility: { all: false, customerId: 'usr_a' } } as const;
  const ids: string[] = [];
  for (let cursor: string | null = null; ;) {
    const window = parseWindow(
      { ...(orderBy && { orderBy }), ...(backward ? { last: 5, before: cursor } : { first: 5, after: cursor }) },
      PAYMENT_SORTING,
    );
    const rows = await orders.payments.list(listing, window);
    const page = rows.slice(0, window.limit);
    ids.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (rows.length <= window.limit || !last) return ids;
    cursor = toCursor(last, window);
  }
}

describe('a list of payments', () => {
  it.each(FIELDS.flatMap((field) => DIRECTIONS.map((direction) => [field, direction] as const)))(
    'by %s %s gives every one once, backward as the mirror of forward',
    async (field, direction) => {
      const forward = await walk([{ field, direction }], false);
      expect(new Set(forward).size).toBe(12);
      expect((await walk([{ field, direction }], true)).reverse()).toEqual(forward);
    },
  );

  it('is sorted from the newest by default', async () => {
    const rows = await orders.payments.list(all(), parseWindow({ first: 100 }, PAYMENT_SORTING));
    const times = rows.map(({ createdAt }) => createdAt.getTime());
    expect(times).toEqual([...times].sort((a, b) => b - a));
  });

  it('contains and counts the rows that match every condition', async () => {
    const window = parseWindow({ first: 100 }, PAYMENT_SORTING);
    for (const [filter, expected] of [
      [{}, 24],
      [{ status: 'REFUNDED' }, 6],
      [{ customerId: 'usr_b' }, 12],
      [{ orderId: 'ord_none' }, 0],
      [{ amount: 2 }, 8],
      [{ amountGte: 2 }, 16],
      [{ amountGte: 2, amountLte: 2, customerId: 'usr_a' }, 4],
      [{ createdAtGte: day(1), createdAtLte: day(1) }, 5],
    ] as const) {
      expect([filter, await orders.payments.count(all(filter))]).toEqual([filter, expected]);
      expect(await orders.payments.list(all(filter), window)).toHaveLength(expected);
    }
  });
});
