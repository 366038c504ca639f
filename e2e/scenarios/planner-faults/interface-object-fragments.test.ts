/** Fragments inside fields of interface objects, which Apollo's planner refuses or resolves for the wrong types. Each runs on the real gateway. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;

describe('a fragment inside a field of an interface object', () => {
  const things = [
    { __typename: 'Book', sku: '1', id: 'b1', title: 'Bridges' },
    { __typename: 'Game', sku: '2', title: 'Chess' },
  ];
  const find = ({ sku }: { sku: string }) => things.find((thing) => thing.sku === sku) ?? null;
  const reviews = {
    a: {
      sdl: `type Query { all: [Product!]! } interface Node { id: ID! } interface Product @key(fields: "sku") { sku: ID! title: String }
        type Book implements Product & Node @key(fields: "sku") { sku: ID! id: ID! title: String }
        type Game implements Product @key(fields: "sku") { sku: ID! title: String } union Paper = Book`,
      resolvers: {
        Query: { all: () => things },
        Product: { __resolveType: ({ __typename }: { __typename: string }) => __typename, __resolveReference: find },
        Book: { __resolveReference: find },
        Game: { __resolveReference: find },
      },
    },
    b: {
      sdl: `type Query { reviews: [Review!]! } type Review { stars: Int product: Product }
        type Product @key(fields: "sku") @interfaceObject { sku: ID! reviews: [Review!]! score: Int }`,
      resolvers: {
        Query: { reviews: () => ['1', '2', '3'].map((sku) => ({ stars: 3, product: { sku } })) },
        Product: {
          __resolveReference: (key: object) => key,
          reviews: () => [{ stars: 4 }],
          score: ({ sku }: { sku: string }) => Number(sku) * 10,
        },
      },
    },
  };

  beforeAll(async () => {
    federation = await startFederation(reviews);
  });
  afterAll(() => federation.stop());
  beforeEach(() => {
    federation.received.length = 0;
  });

  // GraphQL §5.5.2.3: a fragment may be spread where an object may be of its type and of the type around it.
  it('is applied when it is on another interface or union', async () => {
    const ask = async (query: string, variables?: Record<string, unknown>) => (await federation.ask(query, variables)).body.data;
    const first = (data: unknown) => ({ ...(data as object), reviews: (data as { reviews: unknown[] }).reviews.slice(0, 2) });
    expect(first(await ask('{ reviews { product { sku ... on Node { id } } } }'))).toEqual({
      reviews: [{ product: { sku: '1', id: 'b1' } }, { product: { sku: '2' } }],
    });
    expect(
      first(
        await ask(
          '{ reviews { product { __typename ...P ... on Paper { __typename } } } } fragment P on Node { ... on Product { score } }',
        ),
      ),
    ).toEqual({
      reviews: [{ product: { __typename: 'Book', score: 10 } }, { product: { __typename: 'Game' } }],
    });
    const conditional =
      'query($a: Boolean!) { reviews { product { sku ...P @include(if: $a) } } all { score ... on Node { id reviews: __typename } } } fragment P on Node { id }';
    expect(first(await ask(conditional, { a: true }))).toEqual({
      reviews: [{ product: { sku: '1', id: 'b1' } }, { product: { sku: '2' } }],
      all: [{ score: 10, id: 'b1', reviews: 'Book' }, { score: 20 }],
    });
    expect(await ask(conditional, { a: false })).toMatchObject({
      reviews: [{ product: { sku: '1' } }, { product: { sku: '2' } }, { product: { sku: '3' } }],
    });
  });

  // GraphQL §6.4.3: an object whose type cannot be resolved has no value.
  it('makes an object null when it is on one type and no subgraph can resolve the type of the object', async () => {
    const { data, errors } = (await federation.ask('{ reviews { product { sku ... on Book { id } } } }')).body;
    expect(data?.['reviews']).toEqual([{ product: { sku: '1', id: 'b1' } }, { product: { sku: '2' } }, { product: null }]);
    expect(errors?.map(({ path, extensions }) => [path, extensions['code']])).toEqual([[['reviews', 2, 'product'], 'UPSTREAM_ERROR']]);
    expect((await federation.ask('{ reviews { product { sku } } }')).body.data).toMatchObject({
      reviews: [{}, {}, { product: { sku: '3' } }],
    });
  });
});

describe('fields of an interface object that are selected for one of its types', () => {
  const shelf = [
    { __typename: 'Book', sku: '1', weight: 3 },
    { __typename: 'Game', sku: '2', weight: 5 },
  ];
  const find = ({ sku }: { sku: string }) => shelf.find((thing) => thing.sku === sku) ?? null;
  const shop = {
    a: {
      sdl: `type Query { all: [Product!]! } interface Product @key(fields: "sku") { sku: ID! weight: Int }
        type Book implements Product @key(fields: "sku") { sku: ID! weight: Int } type Game implements Product @key(fields: "sku") { sku: ID! weight: Int }`,
      resolvers: {
        Query: { all: () => shelf },
        Product: { __resolveType: ({ __typename }: { __typename: string }) => __typename, __resolveReference: find },
        Book: { __resolveReference: find },
        Game: { __resolveReference: find },
      },
    },
    b: {
      sdl: `type Product @key(fields: "sku") @interfaceObject { sku: ID! weight: Int @external score: Int postage: Int! @requires(fields: "weight") isbn: ID! }`,
      resolvers: {
        Product: {
          __resolveReference: (key: object) => key,
          score: ({ sku }: { sku: string }) => Number(sku) * 10,
          postage: ({ weight }: { weight: number }) => weight * 2,
          isbn: ({ sku }: { sku: string }) => {
            if (sku !== '1') throw new Error('no book');
            return '978';
          },
        },
      },
    },
  };

  beforeAll(async () => {
    federation = await startFederation(shop);
  });
  afterAll(() => federation.stop());
  beforeEach(() => {
    federation.received.length = 0;
  });

  // GraphQL §6.3.2 (CollectFields): a fragment applies to objects of its type alone.
  it('are fetched for objects of that type, and cause no errors or nulls at others', async () => {
    const ask = async (selections: string) => (await federation.ask(`{ all { ${selections} } }`)).body;
    expect(await ask('score ... on Book { postage }')).toEqual({ data: { all: [{ score: 10, postage: 6 }, { score: 20 }] } });
    expect(await ask('... on Game { postage } score')).toEqual({ data: { all: [{ score: 10 }, { postage: 10, score: 20 }] } });
    expect(await ask('postage ... on Book { isbn }')).toEqual({ data: { all: [{ postage: 6, isbn: '978' }, { postage: 10 }] } });
    expect(await ask('... on Game { score } ... on Book { isbn }')).toEqual({ data: { all: [{ isbn: '978' }, { score: 20 }] } });
  });

  it('leave the fields that are selected for all types in one request', async () => {
    await federation.ask('{ all { score postage ... on Book { score } } }');
    expect(federation.received.map(({ subgraph }) => subgraph)).toEqual(['a', 'b']);
  });
});
