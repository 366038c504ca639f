/** Queries that Apollo's planner and executor answer wrongly, each on a supergraph of its own, answered rightly by the real gateway. */
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
        sdl: 'type Query { product: Product } type Product @key(fields: "id") { id: ID! weight: Int price(currency: String): Int }',
        resolvers: { Query: { product: () => ({ id: 'p1', weight: 3 }) }, Product: { __resolveReference: (key: object) => key, price } },
      },
      tax: {
        sdl: `type Product @key(fields: "id") { id: ID! price(currency: String): Int @external
          tax: String @requires(fields: "price(currency: \\"USD\\")")
          toll: String @requires(fields: "price(currency: \\"CHF\\")")
          weight: Int @external label: String @requires(fields: "weight") }`,
        resolvers: {
          Product: {
            __resolveReference: (key: object) => key,
            tax: (product: { price: number }) => `tax on ${String(product.price)}`,
            label: ({ weight }: { weight: number }) => `${String(weight)} kg`,
            toll: (product: { price: number }) => `toll on ${String(product.price)}`,
          },
        },
      },
    });
    expect((await federation.ask('{ product { tax toll price(currency: "EUR") } }')).body).toEqual({
      data: { product: { tax: 'tax on 10', toll: 'toll on 8', price: 9 } },
    });
    // GraphQL §3.13.2: a field that is not included is as if it were not asked for; the others do not wait for what it requires.
    const query = 'query ($label: Boolean!) { product { tax toll label @include(if: $label) } }';
    const product = { tax: 'tax on 10', toll: 'toll on 8' };
    expect((await federation.ask(query, { label: false })).body).toEqual({ data: { product } });
    expect((await federation.ask(query, { label: true })).body).toEqual({ data: { product: { ...product, label: '3 kg' } } });
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

describe('a condition', () => {
  const users = [
    { id: '1', role: 'admin' },
    { id: '2', role: null },
  ];
  // GraphQL §3.13.1: "@skip" leaves out its field, and nothing else.
  const profiles = {
    a: {
      sdl: 'type Query { me: User users: [User!]! } type User @key(fields: "id") { id: ID! role: String team: Team } type Team { name: String size: Int }',
      resolvers: {
        Query: { me: () => users[0], users: () => users },
        User: {
          __resolveReference: ({ id }: { id: string }) => users.find((user) => user.id === id),
          team: ({ id }: { id: string }) => ({ name: `team ${id}`, size: 3 }),
        },
      },
    },
    b: {
      sdl: `type Team @shareable { name: String @external size: Int @external }
        type User @key(fields: "id") { id: ID! role: String @external team: Team @external
          karma: String @requires(fields: "role") label: String @requires(fields: "team { name }") span: String @requires(fields: "team { size }")
          zone: String rank: String }`,
      resolvers: {
        User: {
          __resolveReference: (key: object) => key,
          karma: ({ role }: { role: string | null }) => `karma of ${String(role)}`,
          label: ({ team }: { team: { name: string } }) => `label of ${team.name}`,
          span: ({ team }: { team: { size: number } }) => `span of ${String(team.size)}`,
          zone: ({ id }: { id: string }) => `zone ${id}`,
          rank: ({ id }: { id: string }) => `rank ${id}`,
        },
      },
    },
    c: {
      sdl: `type User @key(fields: "id") { id: ID! rank: String @external score: String @requires(fields: "rank") fame: Int }`,
      resolvers: {
        User: { __resolveReference: (key: object) => key, score: ({ rank }: { rank: string }) => `score of ${rank}`, fame: () => 7 },
      },
    },
  };
  const all = { karma: 'karma of admin', label: 'label of team 1', span: 'span of 3', zone: 'zone 1', score: 'score of rank 1', fame: 7 };
  const only = (...names: (keyof typeof all)[]) => ({ data: { me: Object.fromEntries(names.map((name) => [name, all[name]])) } });

  it('on a field with @requires leaves out that field and no other one', async () => {
    federation = await startFederation(profiles);
    const ask = async (query: string, variables?: Record<string, unknown>) => (await federation.ask(query, variables)).body;
    expect(await ask('{ me { karma @skip(if: true) zone } }')).toEqual(only('zone'));
    expect(await ask('{ me { karma @include(if: false) } }')).toEqual({ data: { me: {} } });
    const query = (text: string) => `query($a: Boolean!, $b: Boolean = true) { ${text} }`;
    const each = query('me { karma @include(if: $a) zone label @skip(if: $b) fame score @include(if: $a) }');
    expect(await ask(each, { a: false })).toEqual(only('zone', 'fame'));
    expect(await ask(each, { a: true })).toEqual(only('karma', 'zone', 'fame', 'score'));
    expect(await ask(each, { a: true, b: false })).toEqual(only('karma', 'zone', 'label', 'fame', 'score'));
    // Two fields that require parts of one object, of which one part is not fetched.
    const parts = query('me { label @include(if: $a) span @skip(if: $b) zone }');
    expect(await ask(parts, { a: true })).toEqual(only('label', 'zone'));
    expect(await ask(parts, { a: false, b: false })).toEqual(only('span', 'zone'));
    expect(await ask(parts, { a: false })).toEqual(only('zone'));
  });

  it('on a fragment, within another one, twice on one field, or on its parent leaves out no more than it says', async () => {
    federation = await startFederation(profiles);
    const query = (text: string) =>
      `query($a: Boolean!, $b: Boolean = false) { ${text} } fragment F on User { karma ...G @skip(if: $b) } fragment G on User { score }`;
    const cases: [string, Record<string, boolean>, object][] = [
      ['me { zone ...F @include(if: $a) }', { a: false }, only('zone')],
      ['me { zone ...F @include(if: $a) }', { a: true }, only('zone', 'karma', 'score')],
      ['me { zone ...F @include(if: $a) }', { a: true, b: true }, only('zone', 'karma')],
      [
        'me { label ... @include(if: $a) { ... on User @skip(if: $b) { karma } } ...F @skip(if: $a) }',
        { a: false, b: true },
        only('label', 'karma'),
      ],
      ['me { label ... @include(if: $a) @skip(if: $b) { karma } ...F @include(if: $b) }', { a: false }, only('label')],
      ['me { ... @include(if: $a) { ... @include(if: $b) { karma } } zone ...F @include(if: $b) }', { a: false }, only('zone')],
      ['me @include(if: $a) { karma zone } ...H', { a: false }, { data: { me: { fame: 7 } } }],
      ['me @include(if: $a) @skip(if: $b) { score } ...H', { a: true }, { data: { me: { score: 'score of rank 1', fame: 7 } } }],
    ];
    for (const [text, variables, expected] of cases) {
      const fragment = text.includes('...H') ? ' fragment H on Query { me { fame } ... @skip(if: true) { users { ...F } } }' : '';
      const used = fragment === '' && !text.includes('...F') ? 'users @skip(if: true) { ...F }' : '';
      expect([text, variables, (await federation.ask(query(`${text} ${used}`) + fragment, variables)).body]).toEqual([
        text,
        variables,
        expected,
      ]);
    }
  });

  it('that is not met asks no subgraph for what it leaves out', async () => {
    federation = await startFederation(profiles);
    await federation.ask('query($a: Boolean!) { users { zone karma @include(if: $a) score @include(if: $a) } }', { a: false });
    expect(federation.received.map(({ subgraph }) => subgraph)).toEqual(['a', 'b']);
  });
});

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

  // GraphQL §5.5.2.3: a fragment may be spread where an object may be of its type and of the type around it.
  it('may be on another interface or union', async () => {
    federation = await startFederation(reviews);
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

  // GraphQL §6.4.3: an object whose type can not be resolved has no value.
  it('on one of its types makes null of an object whose type nobody knows', async () => {
    federation = await startFederation(reviews);
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

  // GraphQL §6.3.2 (CollectFields): a fragment applies to objects of its type alone.
  it('are fetched for objects of that type, and cause no errors or nulls at others', async () => {
    federation = await startFederation(shop);
    const ask = async (selections: string) => (await federation.ask(`{ all { ${selections} } }`)).body;
    expect(await ask('score ... on Book { postage }')).toEqual({ data: { all: [{ score: 10, postage: 6 }, { score: 20 }] } });
    expect(await ask('... on Game { postage } score')).toEqual({ data: { all: [{ score: 10 }, { postage: 10, score: 20 }] } });
    expect(await ask('postage ... on Book { isbn }')).toEqual({ data: { all: [{ postage: 6, isbn: '978' }, { postage: 10 }] } });
    expect(await ask('... on Game { score } ... on Book { isbn }')).toEqual({ data: { all: [{ isbn: '978' }, { score: 20 }] } });
  });

  it('do not change that fields that are selected for all types are fetched by one request', async () => {
    federation = await startFederation(shop);
    await federation.ask('{ all { score postage ... on Book { score } } }');
    expect(federation.received.map(({ subgraph }) => subgraph)).toEqual(['a', 'b']);
  });
});

describe('fields that are asked of one type', () => {
  const nodes = [
    { __typename: 'Comment', id: 'c1' },
    { __typename: 'Post', id: 'p1' },
    { __typename: 'Comment', id: 'c2' },
  ];
  const blog = {
    a: {
      sdl: `type Query { nodes: [Node!]! } interface Node { id: ID! } type User @key(fields: "id") { id: ID! }
        type Comment implements Node { id: ID! author: User! } type Post implements Node { id: ID! author: User! }`,
      resolvers: {
        Query: { nodes: () => nodes },
        Node: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
        Comment: { author: () => ({ id: '1' }) },
        Post: { author: () => ({ id: '1' }) },
      },
    },
    b: {
      sdl: 'type User @key(fields: "id") { id: ID! name: String email: String secret: String! }',
      resolvers: {
        User: {
          __resolveReference: (key: object) => key,
          name: () => 'Ada',
          email: () => 'ada@example.com',
          secret: () => {
            throw new Error('no');
          },
        },
      },
    },
  };
  const comment = { author: { name: 'Ada' } };

  // GraphQL §6.3.2 (CollectFields): a fragment applies to objects of its type alone.
  it('are not fetched for others, whose errors they can not have', async () => {
    federation = await startFederation(blog);
    const { body } = await federation.ask('{ nodes { ... on Comment { author { name } } ... on Post { id author { secret } } } }');
    expect(body.data).toBeNull();
    expect(body.errors?.map(({ path }) => path)).toEqual([['nodes', 1, 'author', 'secret']]);
    nodes.splice(1, 1);
    federation.received.length = 0;
    const others = await federation.ask('{ nodes { ... on Comment { author { name } } ... on Post { id author { secret } } } }');
    expect(others.body).toEqual({ data: { nodes: [comment, comment] } });
    expect(federation.received.map(({ query }) => query.includes('secret'))).toEqual([false, false]);
    nodes.splice(1, 0, { __typename: 'Post', id: 'p1' });
  });

  it('may have one key for different fields', async () => {
    federation = await startFederation(blog);
    const { body } = await federation.ask(
      '{ nodes { ... on Node { id } ... on Comment { author { x: name } } ... on Post { author { x: email } } } }',
    );
    expect(body.data?.['nodes']).toEqual([
      { id: 'c1', author: { x: 'Ada' } },
      { id: 'p1', author: { x: 'ada@example.com' } },
      { id: 'c2', author: { x: 'Ada' } },
    ]);
  });

  it('are fetched once where they are the same for all types', async () => {
    federation = await startFederation(blog);
    const { body } = await federation.ask('{ nodes { ... on Comment { author { name } } ... on Post { author { name } } } }');
    expect(body).toEqual({ data: { nodes: [comment, comment, comment] } });
    expect(federation.received.map(({ subgraph, variables }) => [subgraph, variables])).toEqual([
      ['a', {}],
      ['b', { representations: [{ __typename: 'User', id: '1' }] }],
    ]);
  });
});
