import { describe, expect, it } from '@jest/globals';
import type { FetchDone } from '../../program/result.ts';
import type { FetchRequest } from '../execute.ts';
import {
  ORDERS,
  PRODUCTS,
  type Respond,
  USERS,
  byService,
  composeSupergraph,
  createRunner,
  prepare,
  respond,
  runOnce,
} from './test-execution.ts';

describe('an operation of several subgraphs', () => {
  const query = '{ users { name orders { n product { title kind } } } }';

  it('fills the fields of entities in, and requests each entity once', async () => {
    const representations: unknown[] = [];
    const text: Respond = ({ service, variables }) => {
      representations.push(variables['representations']);
      return byService({ users: USERS, orders: ORDERS, products: PRODUCTS })({ service, query: '', variables });
    };
    const { result, path } = await runOnce(query, text);
    expect(path).toBe('bytes');
    expect(JSON.parse(result)).toEqual({
      data: {
        users: [
          {
            name: 'A',
            orders: [
              { n: 1, product: { title: 'P1', kind: 'BIG' } },
              { n: 2, product: { title: 'P2', kind: null } },
            ],
          },
          { name: 'B "é"', orders: [{ n: 3, product: { title: 'P1', kind: 'BIG' } }] },
        ],
      },
    });
    expect(representations.at(-1)).toEqual([
      { __typename: 'Product', id: 'p1' },
      { __typename: 'Product', id: 'p2' },
    ]);
  });

  it('writes the fields of an entity in the order of the client, also around fields of another subgraph', async () => {
    const { result, path } = await runOnce(
      '{ users { count name orders { n } id } }',
      byService({
        users: '{"data":{"users":[{"name":"A","id":"1"},{"name":"B","id":"2"}]}}',
        orders: '{"data":{"_entities":[{"count":1,"orders":[]},{"count":null,"orders":[{"n":3}]}]}}',
      }),
    );
    expect(path).toBe('bytes');
    expect(result).toBe(
      '{"data":{"users":[{"count":1,"name":"A","orders":[],"id":"1"},{"count":null,"name":"B","orders":[{"n":3}],"id":"2"}]}}',
    );
  });

  it('distinguishes objects of an abstract type by `__typename`', async () => {
    const { result, path } = await runOnce(
      '{ me { orders { product { things { ... on Book { pages } ... on Film { name __typename } } } } } }',
      byService({
        users: '{"data":{"me":{"id":"1"}}}',
        orders: '{"data":{"_entities":[{"orders":[{"product":{"id":"p"}}]}]}}',
        products: '{"data":{"_entities":[{"things":[{"__typename":"Film","name":null},{"__typename":"Book","pages":3}]}]}}',
      }),
    );
    expect(path).toBe('bytes');
    expect(result).toBe('{"data":{"me":{"orders":[{"product":{"things":[{"name":null,"__typename":"Film"},{"pages":3}]}}]}}}');
  });

  it.each(['users', 'orders', 'products'])('requests nothing twice when the response of %s differs', async (spoiled) => {
    const texts: Record<string, string> = { users: USERS, orders: ORDERS, products: PRODUCTS };
    texts[spoiled] = (texts[spoiled] ?? '').replace('{"data":', '{"extensions":{},"data":');
    const { sent, path, result } = await runOnce(query, byService(texts));
    expect([sent.map((each) => each.split(' ')[0]), path]).toEqual([['users', 'orders', 'products'], 'difference']);
    expect(JSON.parse(result)).toMatchObject({
      data: { users: [{ orders: [{ product: { title: 'P1' } }, { product: { title: 'P2' } }] }, {}] },
    });
  });

  it('sends a mutation once, whatever its response', async () => {
    const mutation = 'mutation { rename(name: "B") { name orders { n } } }';
    for (const [text, path] of [
      ['{"data":{"rename":{"id":"1","name":"B"}}}', 'bytes'],
      ['{"data":{"rename":{"name":"B","id":"1"}}}', 'difference'],
      ['{"data":', 'failure'],
    ] as const) {
      const run = await runOnce(mutation, byService({ users: text, orders: '{"data":{"_entities":[{"orders":[]}]}}' }));
      expect([run.path, run.sent.filter((each) => each.startsWith('users')).length]).toEqual([path, 1]);
    }
  });

  it('hands over the response of one fetch while another is in flight', async () => {
    const { run, paths, arenas } = createRunner();
    const open: { fetch: FetchRequest; done: FetchDone }[] = [];
    const operation = prepare(
      '{ users { id } extra }',
      composeSupergraph({ users: 'type Query { users: [User] } type User { id: ID }', other: 'type Query { extra: Int }' }),
    );
    const result = run(operation, (fetch, done) => {
      open.push({ fetch, done });
    });
    expect(open.map(({ fetch }) => fetch.service)).toEqual(['users', 'other']);
    const [users, other] = open as [(typeof open)[0], (typeof open)[0]];
    respond(other.fetch, other.done, () => '{"data":{"extra":"no number"}}');
    respond(users.fetch, users.done, () => '{"data":{"users":[{"id":"1"}]}}');
    expect(await result).toBe('{"data":{"users":[{"id":"1"}],"extra":null}}Invalid value for Query.extra.');
    expect([open.length, paths, arenas.counts.used]).toEqual([2, ['difference'], 0]);
  });

  it.each([
    ['another type', '{"__typename":"Film","rank":1}'],
    ['a type without these fields', '{"__typename":"Film"}'],
  ])('leaves an entity of %s than its representation to the object executor', async (_, entity) => {
    const sdl = composeSupergraph({
      list: `type Query { media: [Medium] } union Medium = Book | Film type Book @key(fields: "id") { id: ID! }
        type Film @key(fields: "id") { id: ID! }`,
      ranks: `type Book @key(fields: "id") { id: ID! rank: Int pages: Int } type Film @key(fields: "id") { id: ID! rank: Int }`,
    });
    const { run, paths } = createRunner();
    const result = await run(prepare('{ media { ... on Book { rank pages } ... on Film { rank } } }', sdl), (fetch, done) => {
      respond(fetch, done, ({ service }) =>
        service === 'list'
          ? '{"data":{"media":[{"__typename":"Book","id":"1"},{"__typename":"Film","id":"2"}]}}'
          : `{"data":{"_entities":[${entity},{"__typename":"Film","rank":2}]}}`,
      );
    });
    expect([paths, JSON.parse(result)]).toMatchObject([['difference'], { data: { media: [{}, { rank: 2 }] } }]);
  });
});
