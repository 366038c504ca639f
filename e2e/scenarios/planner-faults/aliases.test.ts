/**
 * Aliases of clients that are names of fields which the planner adds, or names that the gateway uses itself (GraphQL §2.7: an alias only names the
 * field in the response). Each runs on the real gateway.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { LitEvents } from '../../stack/federation/lit-events.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

const item = {
  __typename: 'Item',
  id: '1',
  weight: 7,
  price: 100,
  label: 'seven',
  size: { width: 1, height: 2 },
  other: { width: 30, height: 40 },
};
const key = (given: object) => given;
const events = new LitEvents();
let weighed = 0;

const SUBGRAPHS = {
  stock: {
    sdl: `type Query { item: Item thing: Thing things: [Thing!]! } interface Thing { id: ID! }
      type Mutation { weigh: Item } type Subscription { lit: Item } type Box implements Thing { id: ID! owner: String }
      type Item implements Thing @key(fields: "id") { id: ID! weight(unit: String): Int price: Int label: String echo(value: Int): Int fails: String size: Size other: Size }
      type Size @shareable { width: Int height: Int }`,
    resolvers: {
      Query: { item: () => item, thing: () => item, things: () => [item, { __typename: 'Box', id: 'b', owner: 'Ada' }] },
      Mutation: {
        weigh: () => {
          weighed++;
          return item;
        },
      },
      Subscription: { lit: { subscribe: () => events.subscribe() } },
      Thing: { __resolveType: ({ __typename }: { __typename: string }) => __typename },
      Item: {
        __resolveReference: () => item,
        fails: () => {
          throw new Error('no');
        },
        echo: (_: unknown, { value }: { value: number }) => value,
        weight: ({ weight }: { weight: number }, { unit }: { unit?: string }) => (unit === 'g' ? weight * 1000 : weight),
      },
    },
  },
  shipping: {
    sdl: `type Item @key(fields: "id") { id: ID! price: Int @external size: Size @external weight(unit: String): Int @external name: String nick: String
        cost: Int @requires(fields: "price") volume: Int @requires(fields: "size { width height }") grams: Int @requires(fields: "weight(unit: \\"g\\")") }
      type Size @shareable { width: Int height: Int }`,
    resolvers: {
      Item: {
        __resolveReference: key,
        cost: ({ price }: { price: number }) => price / 10,
        volume: ({ size }: { size: { width: number; height: number } }) => size.width * size.height,
        grams: ({ weight }: { weight: number }) => weight,
        name: ({ id }: { id: string }) => `name ${id}`,
        nick: () => '2',
      },
    },
  },
  reviews: {
    sdl: 'type Item @key(fields: "id") { id: ID! name: String @external stars: String @requires(fields: "name") }',
    resolvers: {
      Item: {
        __resolveReference: key,
        stars: ({ id, name }: { id: string; name: string }) => `stars of ${name}, ${id}`,
      },
    },
  },
};

describe.each(['bytes', 'objects'])('an alias that is the name of another field (EXECUTOR=%s)', (executor) => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(SUBGRAPHS, { env: { EXECUTOR: executor, MAX_DEFERRED: '5' } });
  });
  afterAll(() => federation.stop());
  beforeEach(() => {
    federation.received.length = 0;
  });
  const ask = async (query: string, variables?: Record<string, unknown>) => (await federation.ask(query, variables)).body;
  const representations = () =>
    federation.received.flatMap(({ variables }) => (variables['representations'] as object[] | undefined) ?? []);

  it.each([
    ['price: echo(value: 1) cost', { price: 1, cost: 10 }, { price: 100 }],
    ['price: weight cost', { price: 7, cost: 10 }, { price: 100 }],
    ['... on Thing { ... on Item { price: weight } } cost', { price: 7, cost: 10 }, { price: 100 }],
    ['size: other { width height } volume', { size: { width: 30, height: 40 }, volume: 2 }, { size: { width: 1, height: 2 } }],
    ['size { width: height } volume', { size: { width: 2 }, volume: 2 }, { size: { width: 1, height: 2 } }],
    ['size { height: width width: height } volume', { size: { height: 1, width: 2 }, volume: 2 }, { size: { width: 1, height: 2 } }],
    ['weight__standIn0: weight grams', { weight__standIn0: 7, grams: 7000 }, { weight: 7000 }],
    ['weight__standIn0: label weight: price grams', { weight__standIn0: 'seven', weight: 100, grams: 7000 }, { weight: 7000 }],
  ])('does not change what @requires sends to a subgraph: { %s }', async (selections, data, sent) => {
    expect(await ask(`{ item { ${selections} } }`)).toEqual({ data: { item: data } });
    expect(representations()).toContainEqual(expect.objectContaining(sent));
  });

  it.each([
    ['id: label name', { id: 'seven', name: 'name 1' }],
    ['id: nick stars', { id: '2', stars: 'stars of name 1, 1' }],
    ['name: nick stars', { name: '2', stars: 'stars of name 1, 1' }],
    ['id: label key: id name', { id: 'seven', key: '1', name: 'name 1' }],
    [
      '__client_id_: label id: nick __client_: price stars',
      { __client_id_: 'seven', id: '2', __client_: 100, stars: 'stars of name 1, 1' },
    ],
  ])('does not change the key of an entity, nor takes its value: { %s }', async (selections, data) => {
    expect(await ask(`{ item { ${selections} } }`)).toEqual({ data: { item: data } });
    for (const each of representations()) expect(each).toMatchObject({ __typename: 'Item', id: '1' });
  });

  it('may be another field for each type of an abstract type', async () => {
    expect(await ask('{ things { ... on Item { id: label name } ... on Box { id: owner id__alias_0: id } } }')).toEqual({
      data: {
        things: [
          { id: 'seven', name: 'name 1' },
          { id: 'Ada', id__alias_0: 'b' },
        ],
      },
    });
  });

  it('may be conditional', async () => {
    const query = 'query ($a: Boolean!) { item { id: label @include(if: $a) price: weight @skip(if: $a) cost name } }';
    expect(await ask(query, { a: true })).toEqual({ data: { item: { id: 'seven', cost: 10, name: 'name 1' } } });
    expect(await ask(query, { a: false })).toEqual({ data: { item: { price: 7, cost: 10, name: 'name 1' } } });
  });

  it('is the segment of its field in the path of an error', async () => {
    const { data, errors = [] } = await ask('{ id: item { id: fails name } }');
    expect(data).toEqual({ id: { id: null, name: 'name 1' } });
    expect(errors.map(({ path }) => path)).toEqual([['id', 'id']]);
  });

  it('is executed once in a mutation', async () => {
    weighed = 0;
    expect(await ask('mutation { id: weigh { price: weight cost } }')).toEqual({ data: { id: { price: 7, cost: 10 } } });
    expect(weighed).toBe(1);
  });

  it('is in the results of a subscription', async () => {
    const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { id: lit { price: weight cost id: label name } }' });
    await until(() => Promise.resolve(events.open > 0));
    events.send(item);
    expect(await subscriber.wait(1)).toEqual([{ data: { id: { price: 7, cost: 10, id: 'seven', name: 'name 1' } } }]);
    await subscriber.stop();
  });

  it('is in the parts of a result', async () => {
    const response = await fetch(federation.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'multipart/mixed, application/json' },
      body: JSON.stringify({ query: '{ id: item { id: label price: weight ... @defer(label: "late") { cost name: nick stars } } }' }),
    });
    const text = await response.text();
    expect(text).toContain('{"data":{"id":{"id":"seven","price":7}}');
    expect(text).toContain('"path":["id"],"label":"late"');
    expect(text).toContain('{"cost":10,"name":"2","stars":"stars of name 1, 1"}');
    expect(text).not.toContain('__client');
  });
});
