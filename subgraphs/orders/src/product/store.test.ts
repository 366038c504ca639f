/** Against a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseWindow, toCursor } from '@trestle/chassis/paging/window';
import type { ProductFilter } from '../generated/resolvers.ts';
import { parseProductFilter } from './rules.ts';
import { PRODUCT_SORTING } from './store.ts';
import { type TestOrders, openTestOrders } from '../test-orders.ts';

// cspell:ignore lant lanten

let orders: TestOrders;
const FIELDS = ['ID', 'NAME', 'CATEGORY', 'PRICE', 'STOCK', 'CREATED_AT'] as const;
const DIRECTIONS = ['ASC', 'DESC'] as const;

beforeAll(async () => {
  orders = await openTestOrders(process.env['TEST_PG_URL']);
});
afterAll(() => orders.close());

/** Many rows have the same value, so that only the id orders them. Ids have one or two digits, which strings would sort differently. */
const create = (i: number, category: string) =>
  orders.createProduct({
    name: `Rope ${String(i % 3)}`,
    category,
    price: i % 4,
    stock: i % 2,
    createdAt: new Date(Date.UTC(2026, 0, 1 + (i % 5))),
  });

async function walk(
  filter: ProductFilter,
  {
    orderBy,
    backward,
    onPage,
  }: { orderBy: { field: (typeof FIELDS)[number]; direction: 'ASC' | 'DESC' }[]; backward: boolean; onPage?: () => Promise<unknown> },
): Promise<number[]> {
  const ids: number[] = [];
  for (let cursor: string | null = null; ;) {
    const window = parseWindow({ orderBy, ...(backward ? { last: 4, before: cursor } : { first: 4, after: cursor }) }, PRODUCT_SORTING);
    const rows = await orders.products.list({ filter }, window);
    const page = rows.slice(0, window.limit);
    ids.push(...page.map(({ id }) => id));
    const last = page.at(-1);
    if (rows.length <= window.limit || !last) return ids;
    cursor = toCursor(last, window);
    await onPage?.();
  }
}

describe('paging through products', () => {
  const cases = FIELDS.flatMap((field) => DIRECTIONS.map((direction) => [field, direction] as const));

  it.each(cases)('by %s %s returns every product once in either direction, while others are inserted', async (field, direction) => {
    const category = `paging ${field} ${direction}`.toLowerCase();
    const made = await Promise.all(Array.from({ length: 14 }, (_, i) => create(i, category)));
    const orderBy = [{ field, direction }];
    const still = await walk({ category }, { orderBy, backward: false });
    expect(still).toHaveLength(made.length);
    expect((await walk({ category }, { orderBy, backward: true })).reverse()).toEqual(still);

    let added = 0;
    const busy = await walk(
      { category },
      { orderBy, backward: false, onPage: () => (added < 6 ? create(added++, category) : Promise.resolve()) },
    );
    expect(new Set(busy).size).toBe(busy.length);
    expect(busy.filter((id) => still.includes(id))).toEqual(still);
  });

  it('by id sorts ids as numbers', async () => {
    const ids = await walk({}, { orderBy: [{ field: 'ID', direction: 'ASC' }], backward: false });
    expect(ids.length).toBeGreaterThan(100);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });
});

describe('a filter of products', () => {
  it('matches category in any case, price, stock and time; all conditions must hold, for the total too', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, i) => create(i, 'filters')));
    const window = parseWindow({ first: 100 }, PRODUCT_SORTING);
    for (const [filter, expected] of [
      [{}, 12],
      [{ priceGte: 2, priceLte: 2 }, 3],
      [{ price: 3, isAvailable: true }, 3],
      [{ isAvailable: false }, 6],
      [{ stockGte: 1, stockLte: 1, name: 'Rope 0' }, 2],
      [{ createdAtGte: new Date('2026-01-02T00:00:00Z'), createdAtLte: new Date('2026-01-02T00:00:00Z') }, 3],
      [{ search: 'OPE 1' }, 4],
    ] as const) {
      const all = parseProductFilter<ProductFilter>({ category: 'FILTERS', ...filter });
      expect([filter, await orders.products.count(all)]).toEqual([filter, expected]);
      expect(await orders.products.list(all, window)).toHaveLength(expected);
    }
  });

  it('matches the wildcards of LIKE literally, in the name and the description', async () => {
    await orders.createProduct({ name: '100% wool_sock', description: 'back\\slash' });
    for (const [search, expected] of [
      ['0% WOOL_', 1],
      ['k\\s', 1],
      ['5%%', 0],
      ['ool__', 0],
    ] as const)
      expect([search, await orders.products.count(parseProductFilter({ search }))]).toEqual([search, expected]);
  });

  it('of words is sorted by relevance, and finds incomplete, inflected and misspelt ones', async () => {
    const category = 'searched';
    await orders.createProduct({ name: 'Lantern', description: 'Burns oil', category });
    await orders.createProduct({ name: 'Oil can', description: 'For lanterns and for lamps of any kind', category });
    const names = async (search: string) => {
      const { data } = await orders.run<{ productsConnection: { edges: { node: { name: string } }[] } }>(
        'query ($filter: ProductFilter) { productsConnection(filter: $filter) { edges { node { name } } } }',
        { variables: { filter: { category, search } } },
      );
      return data.productsConnection.edges.map(({ node }) => node.name);
    };
    expect(await names('lantern')).toEqual(['Lantern', 'Oil can']);
    expect(await names('oil')).toEqual(['Oil can', 'Lantern']);
    expect(await names('lant')).toEqual(['Lantern', 'Oil can']);
    expect(await names('lamp')).toEqual(['Oil can']);
    expect(await names('lanten')).toEqual(['Lantern', 'Oil can']);
    expect(await names('urns')).toEqual(['Lantern']);
    expect(await names('')).toHaveLength(2);
  });
});
