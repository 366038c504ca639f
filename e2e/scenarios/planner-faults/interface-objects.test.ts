/** Operations on interface objects that Apollo's planner refuses, or for which it fetches more than they need, answered by the real gateway. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const resolveType = { __resolveType: ({ __typename }: { __typename: string }) => __typename };

describe('an interface object whose type no subgraph resolves', () => {
  const sources = {
    a: {
      sdl: `type Query { a: Product } interface Product @key(fields: "id") { id: ID! }
        type Book implements Product @key(fields: "id") { id: ID! }`,
      resolvers: { Query: { a: () => ({ __typename: 'Book', id: '1' }) }, Product: resolveType },
    },
    b: {
      sdl: 'type Query { b: Product } type Product @key(fields: "id") @interfaceObject { id: ID! score: Int }',
      resolvers: { Query: { b: () => ({ id: '1', score: 5 }) }, Product: { __resolveReference: (key: object) => key } },
    },
  };

  let federation: Federation;
  beforeAll(async () => {
    // As a composition may leave it that does not check whether all fields can be resolved.
    const patch = (sdl: string) => sdl.replaceAll('(graph: A, key: "id")', '(graph: A, key: "id", resolvable: false)');
    federation = await startFederation(sources, { patch });
  });
  afterAll(() => federation.stop());

  // GraphQL §3.13.1, §3.13.2: a field that is not included is as if it were not selected.
  it('may be selected with conditional fields only', async () => {
    const ask = async (selections: string, c: boolean) =>
      (await federation.ask(`query ($c: Boolean!) { b { ${selections} } }`, { c })).body;
    expect(await ask('id @include(if: $c)', true)).toEqual({ data: { b: { id: '1' } } });
    expect(await ask('id @include(if: $c)', false)).toEqual({ data: { b: {} } });
    expect(await ask('... @skip(if: $c) { score }', false)).toEqual({ data: { b: { score: 5 } } });
    expect(await ask('... @include(if: $c) { __key: score }', true)).toEqual({ data: { b: { __key: 5 } } });
    expect(await ask('id @skip(if: true) ... @include(if: $c) { id @skip(if: $c) }', true)).toEqual({ data: { b: {} } });
  });

  it('is still refused where the client selects its type', async () => {
    const { data, errors } = (await federation.ask('{ b { __typename } }')).body;
    expect(data).toBeNull();
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['UPSTREAM_ERROR']);
  });
});

describe('a field that only fields of one type require', () => {
  const shelf = [
    { __typename: 'Book', sku: '1', weight: 3, size: { depth: 2 } },
    { __typename: 'Game', sku: '2' },
  ];
  const find = ({ sku }: { sku: string }) => shelf.find((thing) => thing.sku === sku) ?? null;
  const fields = 'sku: ID! weight: Int size: Size';
  const failing = {
    __resolveReference: find,
    weight: () => {
      throw new Error('A game has no weight');
    },
  };
  const sources = {
    a: {
      sdl: `type Query { all: [Product!]! } interface Product @key(fields: "sku") { ${fields} } type Size { depth: Int }
        type Book implements Product @key(fields: "sku") { ${fields} } type Game implements Product @key(fields: "sku") { ${fields} }`,
      resolvers: {
        Query: { all: () => shelf },
        Product: { ...resolveType, __resolveReference: find },
        Book: { __resolveReference: find },
        Game: failing,
      },
    },
    b: {
      sdl: `type Query { best: [Product!]! } type Size @shareable { depth: Int @external }
        type Product @key(fields: "sku") @interfaceObject { sku: ID! weight: Int @external size: Size @external
          postage: Int @requires(fields: "weight") box: Int @requires(fields: "weight size { depth }") score: Int }`,
      resolvers: {
        Query: { best: () => [{ sku: '2' }, { sku: '1' }] },
        Product: {
          __resolveReference: (key: object) => key,
          postage: ({ weight }: { weight: number }) => weight * 2,
          box: ({ weight, size }: { weight: number; size: { depth: number } }) => weight * size.depth,
          score: () => 9,
        },
      },
    },
  };

  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(sources);
  });
  afterAll(() => federation.stop());

  // GraphQL §6.3.2 (CollectFields): a fragment applies to objects of its type alone.
  it('is fetched for objects of that type only, so that it cannot fail for others', async () => {
    const ask = async (query: string) => (await federation.ask(query)).body;
    expect(await ask('{ all { score ... on Book { postage } } }')).toEqual({ data: { all: [{ score: 9, postage: 6 }, { score: 9 }] } });
    expect(await ask('{ all { ... on Book { box } ... on Game { sku } } }')).toEqual({ data: { all: [{ box: 6 }, { sku: '2' }] } });
    expect(await ask('{ best { score ... on Book { box } } }')).toEqual({ data: { best: [{ score: 9 }, { score: 9, box: 6 }] } });
    expect(await ask('{ all { ... on Book { postage w: weight } } }')).toEqual({ data: { all: [{ postage: 6, w: 3 }, {}] } });
  });

  it('is fetched for all types where the operation selects it for all', async () => {
    const { data, errors } = (await federation.ask('{ all { weight ... on Book { postage } } }')).body;
    expect(data).toEqual({ all: [{ weight: 3, postage: 6 }, { weight: null }] });
    expect(errors?.map(({ path }) => path)).toEqual([['all', 1, 'weight']]);
  });
});
