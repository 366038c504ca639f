/** Queries that Apollo's planner and executor answer wrongly (facts.md), each on a supergraph of its own, answered rightly by the real gateway. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation.ts';

let federation: Federation;
afterEach(() => federation.stop());

const products = [
  { upc: 'p1', sku: 's1', weight: 2 },
  { upc: 'p2', sku: 's2', weight: 5 },
];

describe('a key that a subgraph does not resolve', () => {
  it('is passed over for a later one that it does', async () => {
    federation = await startFederation({
      stock: {
        sdl: `type Query { products: [Product!]! }
          type Product @key(fields: "upc") @key(fields: "sku") { upc: ID! sku: ID! weight: Int }`,
        resolvers: {
          Query: { products: () => products },
          Product: {
            __resolveReference: (key: { upc?: string; sku?: string }) =>
              products.find(({ upc, sku }) => upc === key.upc || sku === key.sku),
          },
        },
      },
      shipping: {
        sdl: `type Query { featured: Product }
          type Product @key(fields: "upc", resolvable: false) @key(fields: "sku") { upc: ID! sku: ID! weight: Int @external cost: Int @requires(fields: "weight") }`,
        resolvers: {
          Query: { featured: () => ({ upc: 'p2', sku: 's2' }) },
          Product: {
            __resolveReference: (key: { sku?: string }) => (key.sku === undefined ? null : key),
            cost: ({ weight }: { weight: number }) => weight * 10,
          },
        },
      },
    });
    expect((await federation.ask('{ products { upc cost } featured { cost } }')).body).toEqual({
      data: {
        products: [
          { upc: 'p1', cost: 20 },
          { upc: 'p2', cost: 50 },
        ],
        featured: { cost: 50 },
      },
    });
  });
});

describe('a field with arguments that @requires pulls in', () => {
  const prices: Record<string, number> = { EUR: 9, USD: 10, CHF: 8 };
  const price = (_: unknown, { currency }: { currency: string }) => prices[currency] ?? null;

  it("keeps its own arguments beside the client's", async () => {
    federation = await startFederation({
      catalog: {
        sdl: 'type Query { product: Product } type Product @key(fields: "id") { id: ID! price(currency: String = "EUR"): Int }',
        resolvers: { Query: { product: () => ({ id: 'p1' }) }, Product: { __resolveReference: (key: object) => key, price } },
      },
      tax: {
        sdl: `type Product @key(fields: "id") { id: ID! price(currency: String = "EUR"): Int @external
          tax: String @requires(fields: "price(currency: \\"USD\\")") }`,
        resolvers: {
          Product: { __resolveReference: (key: object) => key, tax: (product: { price: number }) => `tax on ${String(product.price)}` },
        },
      },
    });
    const ask = async (query: string) => (await federation.ask(query)).body;
    expect(await ask('{ product { price(currency: "CHF") tax } }')).toEqual({ data: { product: { price: 8, tax: 'tax on 10' } } });
    expect(await ask('{ product { tax price } }')).toEqual({ data: { product: { price: 9, tax: 'tax on 10' } } });
    expect(await ask('{ product { tax } }')).toEqual({ data: { product: { tax: 'tax on 10' } } });
    // What stands in for the field is nobody's to see.
    expect((await federation.ask('{ __type(name: "Product") { fields { name } } }')).text).not.toContain('tandIn');
  });

  it('is fetched once for each set of arguments that two fields require', async () => {
    federation = await startFederation({
      catalog: {
        sdl: 'type Query { product: Product } type Product @key(fields: "id") { id: ID! price(currency: String): Int }',
        resolvers: { Query: { product: () => ({ id: 'p1' }) }, Product: { __resolveReference: (key: object) => key, price } },
      },
      tax: {
        sdl: `type Product @key(fields: "id") { id: ID! price(currency: String): Int @external
          tax: String @requires(fields: "price(currency: \\"USD\\")")
          toll: String @requires(fields: "price(currency: \\"CHF\\")") }`,
        resolvers: {
          Product: {
            __resolveReference: (key: object) => key,
            tax: (product: { price: number }) => `tax on ${String(product.price)}`,
            toll: (product: { price: number }) => `toll on ${String(product.price)}`,
          },
        },
      },
    });
    expect((await federation.ask('{ product { tax toll price(currency: "EUR") } }')).body).toEqual({
      data: { product: { tax: 'tax on 10', toll: 'toll on 8', price: 9 } },
    });
  });
});

describe('a root field', () => {
  it('that no subgraph can resolve as it is asked for is an error, never a silent null', async () => {
    const node = { __resolveType: ({ id }: { id: string }) => (id.startsWith('a') ? 'Account' : 'Chat') };
    const resolvers = { Query: { node: (_: unknown, key: object) => key }, Node: node };
    const own = (type: string) => `type ${type} implements Node @key(fields: "id") { id: ID! name: String @shareable }`;
    const subgraph = `type Query { node(id: ID!): Node @shareable } interface Node { id: ID! } ${own('Account')} ${own('Chat')}`;
    federation = await startFederation(
      { accounts: { sdl: subgraph, resolvers }, chats: { sdl: subgraph, resolvers } },
      // As a composition may leave it that lets pass what can't be: each subgraph gives out the ids of the other's objects only if it is asked by id.
      {
        mend: (sdl) =>
          sdl
            .replace(/(type Account[^{]*\{\s*id: ID!)/, '$1 @join__field(graph: ACCOUNTS) @join__field(graph: CHATS, external: true)')
            .replace(/(type Chat[^{]*\{\s*id: ID!)/, '$1 @join__field(graph: CHATS) @join__field(graph: ACCOUNTS, external: true)'),
      },
    );
    const { status, body } = await federation.ask('{ node(id: "a1") { id } }');
    expect(body.data).toBeNull();
    expect(body.errors).toEqual([expect.objectContaining({ message: 'The subgraphs can not resolve all that the operation asks for' })]);
    expect(status).toBe(200);
    expect(federation.received).toEqual([]);
    expect((await federation.ask('{ node(id: "a1") { __typename } }')).body).toEqual({ data: { node: { __typename: 'Account' } } });
  });

  it('of which nothing is left to ask is fetched all the same: an empty object, and a mutation that has happened', async () => {
    let count = 0;
    federation = await startFederation({
      counter: {
        sdl: 'type Query { count: Count } type Mutation { increase: Count } type Count { value: Int }',
        resolvers: { Query: { count: () => ({ value: count }) }, Mutation: { increase: () => ({ value: ++count }) } },
      },
    });
    const mutation = 'mutation($a: Boolean!) { increase @include(if: $a) { value @skip(if: $a) } }';
    expect((await federation.ask(mutation, { a: true })).body).toEqual({ data: { increase: {} } });
    expect((await federation.ask(mutation, { a: false })).body).toEqual({ data: {} });
    expect(count).toBe(1);
  });
});

describe('an interface object', () => {
  it('does not overwrite what an object is: no field vanishes', async () => {
    const media = [
      { __typename: 'Book', id: 'b1', title: 'Bridges', pages: 90 },
      { __typename: 'Film', id: 'f1', title: 'Arches', minutes: 80 },
    ];
    federation = await startFederation({
      library: {
        sdl: `type Query { media: [Media!]! }
          interface Media @key(fields: "id") { id: ID! title: String! }
          type Book implements Media @key(fields: "id") { id: ID! title: String! pages: Int }
          type Film implements Media @key(fields: "id") { id: ID! title: String! minutes: Int }`,
        resolvers: {
          Query: { media: () => media },
          Media: {
            __resolveType: ({ __typename }: { __typename: string }) => __typename,
            __resolveReference: ({ id }: { id: string }) => media.find((one) => one.id === id),
          },
          Book: { __resolveReference: ({ id }: { id: string }) => media.find((one) => one.id === id) },
          Film: { __resolveReference: ({ id }: { id: string }) => media.find((one) => one.id === id) },
        },
      },
      ratings: {
        sdl: `type Query { best: [Media!]! } type Media @key(fields: "id") @interfaceObject { id: ID! rating: Int related: Media }`,
        resolvers: {
          Query: { best: () => [{ id: 'f1' }, { id: 'b1' }] },
          Media: {
            __resolveReference: (key: object) => ({ ...key, __typename: 'Media' }),
            rating: ({ id }: { id: string }) => (id === 'b1' ? 4 : 5),
            related: () => ({ id: 'b1' }),
          },
        },
      },
    });
    const fields = 'rating ... on Book { pages rating } ... on Film { minutes }';
    expect(
      (await federation.ask(`{ media { __typename ${fields} } best { __typename title ${fields} related { __typename title } } }`)).body,
    ).toEqual({
      data: {
        media: [
          { __typename: 'Book', rating: 4, pages: 90 },
          { __typename: 'Film', rating: 5, minutes: 80 },
        ],
        best: [
          { __typename: 'Film', title: 'Arches', rating: 5, minutes: 80, related: { __typename: 'Book', title: 'Bridges' } },
          { __typename: 'Book', title: 'Bridges', rating: 4, pages: 90, related: { __typename: 'Book', title: 'Bridges' } },
        ],
      },
    });
  });
});

it('keeps objects of different types apart that have the same id', async () => {
  const thing = (type: string) => ({ __typename: type, id: '3' });
  const resolve = { __resolveReference: (key: object) => key };
  federation = await startFederation({
    shelf: {
      sdl: `type Query { things: [Thing!]! } union Thing = Book | Film
        type Book @key(fields: "id") { id: ID! } type Film @key(fields: "id") { id: ID! }`,
      resolvers: {
        Query: { things: () => [thing('Film'), thing('Book'), thing('Film')] },
        Thing: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
      },
    },
    books: { sdl: 'type Book @key(fields: "id") { id: ID! title: String }', resolvers: { Book: { ...resolve, title: () => 'a book' } } },
    films: { sdl: 'type Film @key(fields: "id") { id: ID! title: String }', resolvers: { Film: { ...resolve, title: () => 'a film' } } },
  });
  const things = [{ film: 'a film' }, { book: 'a book' }, { film: 'a film' }];
  expect((await federation.ask('{ things { ... on Book { book: title } ... on Film { film: title } } }')).body).toEqual({
    data: { things },
  });
  expect((await federation.ask('{ things { ... on Film { film: title } ... on Book { id } } }')).body).toEqual({
    data: { things: [things[0], { id: '3' }, things[2]] },
  });
});

it('runs the fields of a mutation in order and each of them once, whatever the plan', async () => {
  const log: string[] = [];
  const note =
    (name: string) =>
    (_: unknown, { n }: { n: number }) => {
      log.push(`${name}${String(n)}`);
      return { id: 'x' };
    };
  federation = await startFederation({
    a: {
      sdl: 'type Query { a: Int } type Mutation { a(n: Int): Thing } type Thing @key(fields: "id") { id: ID! fromA: Int }',
      resolvers: { Mutation: { a: note('a') }, Thing: { __resolveReference: (key: object) => key, fromA: () => 1 } },
    },
    b: {
      sdl: 'type Query { b: Int } type Mutation { b(n: Int): Thing } type Thing @key(fields: "id") { id: ID! fromB: Int }',
      resolvers: { Mutation: { b: note('b') }, Thing: { __resolveReference: (key: object) => key, fromB: () => 2 } },
    },
  });
  const { body } = await federation.ask(
    'mutation { one: a(n: 1) { fromA fromB } two: b(n: 2) { fromA fromB } three: a(n: 3) { id } four: a(n: 4) { fromB } five: b(n: 5) { id } }',
  );
  const both = { fromA: 1, fromB: 2 };
  expect(body).toEqual({ data: { one: both, two: both, three: { id: 'x' }, four: { fromB: 2 }, five: { id: 'x' } } });
  expect(log).toEqual(['a1', 'b2', 'a3', 'a4', 'b5']);
});
