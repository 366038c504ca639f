/** Products are listed and changed by administrators alone, whole or not at all. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type TestOrders, callerOf, openTestOrders } from '../test-orders.ts';

let orders: TestOrders;
const admin = callerOf('usr_admin', 'ADMIN');
beforeAll(async () => {
  orders = await openTestOrders(process.env['TEST_PG_URL']);
});
afterAll(() => orders.close());

const FIELDS = 'id name description category price currency stock isAvailable version';
const create = (input: object, caller = admin) =>
  orders.run<{ createProduct: { id: string } } | null>(
    `mutation ($input: CreateProductInput!) { createProduct(input: $input) { ${FIELDS} } }`,
    {
      caller,
      variables: { input },
    },
  );
const update = (
  id: string,
  input: object,
  { expectedVersions, caller = admin }: { expectedVersions?: number[]; caller?: typeof admin } = {},
) =>
  orders.run<{ updateProduct: object } | null>(
    `mutation ($id: ID!, $input: UpdateProductInput!, $at: [Int!]) { updateProduct(id: $id, input: $input, expectedVersions: $at) { ${FIELDS} } }`,
    { caller, variables: { id, input, ...(expectedVersions && { at: expectedVersions }) } },
  );
const WRITTEN = { name: 'Trestle', category: 'Bridges', price: 5, currency: 'eur' };
const made = async () => (await create(WRITTEN)).data?.createProduct.id ?? '';

describe('a product', () => {
  it('is listed with its category in lower case and its currency in capitals, and can be ordered', async () => {
    const { data, codes } = await create({ ...WRITTEN, stock: 2 });
    expect(codes).toEqual({});
    const id = data?.createProduct.id ?? '';
    expect(data).toEqual({
      createProduct: {
        id,
        name: 'Trestle',
        description: '',
        category: 'bridges',
        price: 5,
        currency: 'EUR',
        stock: 2,
        isAvailable: true,
        version: 1,
      },
    });
    const bought = await orders.run('mutation ($id: ID!) { createOrder(input: { productId: $id, qty: 2 }) { total items { currency } } }', {
      caller: callerOf('usr_a'),
      variables: { id },
    });
    expect(bought).toEqual({ data: { createOrder: { total: 10, items: [{ currency: 'EUR' }] } }, codes: {} });
  });

  it.each(['É', 'İ'])('is found by the category %s as it was sent', async (category) => {
    const { data } = await create({ ...WRITTEN, category });
    const { data: found } = await orders.run<{ productsConnection: { edges: { node: { id: string } }[] } }>(
      'query ($category: String!) { productsConnection(filter: { category: $category }) { edges { node { id } } } }',
      { variables: { category } },
    );
    expect(found.productsConnection.edges).toEqual([{ node: { id: data?.createProduct.id } }]);
  });

  it('changes only in the fields that were sent, and only if its version is expected', async () => {
    const id = await made();
    const changed = await update(id, { category: 'ARCHES', currency: 'usd', stock: 9 }, { expectedVersions: [1, 7] });
    expect(changed.data?.updateProduct).toMatchObject({
      name: 'Trestle',
      category: 'arches',
      price: 5,
      currency: 'USD',
      stock: 9,
      version: 2,
    });
    expect((await update(id, { price: 6 }, { expectedVersions: [1] })).codes).toEqual({ updateProduct: 'PRECONDITION_FAILED' });
    expect((await update(id, { price: 6 }, { expectedVersions: [] })).codes).toEqual({ updateProduct: 'PRECONDITION_FAILED' });
    expect((await update(id, {}, { expectedVersions: [2] })).data?.updateProduct).toMatchObject({ price: 5, version: 2 });
  });

  it('is changed by one of twenty updates with the same expected version', async () => {
    const id = await made();
    const outcomes = await Promise.all(Array.from({ length: 20 }, (_, i) => update(id, { price: 100 + i }, { expectedVersions: [1] })));
    expect(outcomes.filter(({ data }) => data !== null)).toHaveLength(1);
    expect(new Set(outcomes.flatMap(({ codes }) => Object.values(codes)))).toEqual(new Set(['PRECONDITION_FAILED']));
  });

  it('is NOT_FOUND for a string that is not the id of a product', async () => {
    for (const id of ['999999', '0', 'x', '99999999999'])
      expect((await update(id, { price: 1 })).codes).toEqual({ updateProduct: 'NOT_FOUND' });
  });

  it('is written by administrators only, within the scopes of their credential', async () => {
    const id = await made();
    for (const caller of [callerOf('usr_a'), callerOf('usr_m', 'MODERATOR'), { ...admin, scopes: new Set(['posts:read']) }]) {
      expect((await create(WRITTEN, caller)).codes).toEqual({ createProduct: 'FORBIDDEN' });
      expect((await update(id, { price: 1 }, { caller })).codes).toEqual({ updateProduct: 'FORBIDDEN' });
    }
  });

  it.each([
    { name: '' },
    { name: 'x'.repeat(201) },
    { description: 'x'.repeat(5001) },
    { category: ' ' },
    { category: 'x'.repeat(51) },
    { price: -1 },
    { currency: 'ßa' },
    { stock: -1 },
    { name: 'a\0' },
  ])('with %j is refused, new or changed, and nothing is written', async (fault) => {
    const id = await made();
    const before = await orders.prisma.product.findMany({ orderBy: { id: 'asc' } });
    expect((await create({ ...WRITTEN, ...fault })).codes).toEqual({ createProduct: 'VALIDATION_ERROR' });
    expect((await update(id, fault)).codes).toEqual({ updateProduct: 'VALIDATION_ERROR' });
    expect(await orders.prisma.product.findMany({ orderBy: { id: 'asc' } })).toEqual(before);
  });

  it.each(['name', 'description', 'category', 'price', 'currency', 'stock'])('refuses null for %s', async (field) => {
    expect((await update(await made(), { [field]: null })).codes).toEqual({ updateProduct: 'VALIDATION_ERROR' });
  });
});
