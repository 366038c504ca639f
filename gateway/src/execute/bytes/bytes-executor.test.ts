/** Plans and executes on bytes without a network, so that subgraphs can return anything. */
import { composeServices } from '@apollo/composition';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import { createPlanner } from '../../plan/planner.ts';
import { type Operation, link } from '../../program/operation.ts';
import type { RequestContext } from '../../request/context.ts';
import { readResponse } from '../../upstream/subgraph-response.ts';
import { createBufferPool } from '../buffer-pool.ts';
import type { FetchRequest, SendFetch } from '../execute.ts';
import type { FetchDone } from '../../program/result.ts';
import { readVariables } from '../variables.ts';
import { ArenaPool } from './arena.ts';
import { createBytesExecutor } from './bytes-executor.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires", "@shareable"])';

function compose(sdls: Record<string, string>): string {
  const services = Object.entries(sdls).map(([name, sdl]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors.map(({ message }) => message).join());
  return supergraphSdl;
}

const SHOP = compose({
  users: `type Query { users: [User!]! me: User } type User @key(fields: "id") { id: ID! name: String! }
    type Mutation { rename(name: String!): User }`,
  orders: `type User @key(fields: "id") { id: ID! orders: [Order!]! count: Int } type Order { n: Int! product: Product! }
    type Product @key(fields: "id", resolvable: false) { id: ID! }`,
  products: `type Product @key(fields: "id") { id: ID! title: String! kind: Kind things: [Thing!] } enum Kind { BIG SMALL }
    union Thing = Book | Film type Book { pages: Int! } type Film { name: String }`,
});

function prepare(query: string, sdl = SHOP): Operation {
  const prepared = createPlanner(sdl, DEFAULT_LIMITS).prepare({ query, operationName: undefined, labels: [] });
  if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
  return link(prepared.program);
}

/** A subgraph's response as a string. */
type Respond = (fetch: { service: string; query: string; variables: Record<string, unknown> }) => string;

function createRunner() {
  const arenas = new ArenaPool({ isOverwriting: true });
  const paths: string[] = [];
  const executor = createBytesExecutor({
    buffers: createBufferPool(1e7),
    arenas,
    count: (_, path) => {
      paths.push(path);
    },
  });
  /** Returns the result as a string, or its error messages. */
  const run = (operation: Operation, send: SendFetch, variables: Record<string, unknown> = {}) =>
    new Promise<string>((resolve) => {
      const conditions = readVariables(operation.program.variables, variables);
      executor.execute({ operation, variables, conditions, context: {} as RequestContext, send, needsObjects: false }, (result) => {
        if ('assembled' in result) {
          const { bytes, length } = result.assembled;
          resolve(`${bytes.toString('utf8', 0, length)}}`);
          return;
        }
        const { data, errors } = result;
        const request = {
          conditions,
          introspection: {},
          buffer: Buffer.alloc(2048),
          maxBytes: 1e9,
          faults: [],
          noteMissing: errors.noteMissing,
        };
        const written = operation.compiled.explain(data, request);
        const messages = errors.finish(request.faults).map(({ message }) => message);
        resolve(`${written.bytes.toString('utf8', 0, written.length)}}${messages.join()}`);
      });
    });
  return { run, paths, arenas };
}

const respond = ({ service, body, take }: FetchRequest, done: FetchDone, text: Respond) => {
  const bytes = Buffer.from(text({ service, ...(JSON.parse(body) as { query: string; variables: Record<string, unknown> }) }));
  if (take?.(bytes, 0, bytes.length)) done(null, {});
  else {
    const result = readResponse({ status: 200, contentType: undefined, text: bytes.toString() });
    done(result ? null : { code: 'UPSTREAM_ERROR', message: 'no result', cause: undefined }, result ?? {});
  }
};

/** Runs a query, and returns its result, how it was executed, and which requests were sent. */
async function runOnce(query: string, text: Respond, variables: Record<string, unknown> = {}) {
  const { run, paths, arenas } = createRunner();
  const sent: string[] = [];
  const result = await run(
    prepare(query),
    (fetch, done) => {
      sent.push(`${fetch.service} ${(JSON.parse(fetch.body) as { query: string }).query}`);
      respond(fetch, done, text);
    },
    variables,
  );
  expect(arenas.counts.used).toBe(0);
  return { result, path: paths.join(), sent };
}

const USERS = '{"data":{"users":[{"id":"1","name":"A"},{"id":"2","name":"\\u0042 \\"é\\""}]}}';
const ORDERS =
  '{"data":{"_entities":[{"orders":[{"n":1,"product":{"id":"p1"}},{"n":2,"product":{"id":"p2"}}]},{"orders":[{"n":3,"product":{"id":"p1"}}]}]}}';
const PRODUCTS = '{"data":{"_entities":[{"title":"P1","kind":"BIG"},{"title":"P2","kind":null}]}}';
/** The object executor requests the names of types too. */
const byService =
  (texts: Record<string, string>): Respond =>
  ({ service, query }) =>
    (texts[service] ?? '').replaceAll(
      '"product":{',
      query.includes('product{__typename') ? '"product":{"__typename":"Product",' : '"product":{',
    );

describe('an operation of one subgraph', () => {
  it('is answered by the bytes of the response', async () => {
    const { result, path } = await runOnce('{ users { id name } }', () => USERS);
    expect([result, path]).toEqual([USERS, 'bytes']);
  });

  it('requests the fields in the order of the response, and the name of a type only where it is not known', async () => {
    const { sent, result } = await runOnce(
      '{ me { ...Name id } me { __typename } } fragment Name on User { tn: __typename name }',
      () => '{"data":{"me":{"tn":"User","name":"A","id":1,"__typename":"User"}}}',
    );
    expect(sent).toEqual(['users {me{tn:__typename name id __typename}}']);
    expect(result).toBe('{"data":{"me":{"tn":"User","name":"A","id":1,"__typename":"User"}}}');
  });

  it.each([
    ['another order', '{"data":{"users":[{"name":"A","id":"1"}]}}', 'difference', '{"data":{"users":[{"id":"1","name":"A"}]}}'],
    ['a list without commas', '{"data": {"users": [] []}}', 'failure', '{"data":null}no result'],
    ['another member', '{"data":{"users":[]},"extensions":{}}', 'difference', '{"data":{"users":[]}}'],
    [
      'a field that was not requested',
      '{"data":{"users":[{"id":"1","name":"A","x":1}]}}',
      'difference',
      '{"data":{"users":[{"id":"1","name":"A"}]}}',
    ],
    ['errors', '{"data":{"users":[]},"errors":[{"message":"E"}]}', 'errors', '{"data":{"users":[]}}E'],
    [
      'null where it is not allowed',
      '{"data":{"users":[null]}}',
      'difference',
      '{"data":null}Cannot return null for non-nullable field Query.users.',
    ],
    ['a value of another type', '{"data":{"users":[{"id":"1","name":2}]}}', 'difference', '{"data":null}Invalid value for User.name.'],
    ['no JSON', '{"data":{"users":[', 'failure', '{"data":null}no result'],
  ])('leaves %s to the object executor', async (_, text, path, result) => {
    expect(await runOnce('{ users { id name } }', () => text)).toEqual({ result, path, sent: ['users {users{id name}}'] });
  });

  it('leaves text that is not UTF-8 to the object executor', async () => {
    const { run, paths } = createRunner();
    const text = Buffer.concat([Buffer.from('{"data":{"me":{"name":"'), Buffer.from([0xff]), Buffer.from('"}}}')]);
    const result = await run(prepare('{ me { name } }'), ({ take }, done) => {
      expect(take?.(text, 0, text.length)).toBe(false);
      done(null, { data: { me: { name: 'read by JSON.parse' } } });
    });
    expect([result, paths]).toEqual(['{"data":{"me":{"name":"read by JSON.parse"}}}', ['difference']]);
  });

  it('accepts white space between tokens', async () => {
    const { run, paths } = createRunner();
    const operation = prepare('{ users { id name } }');
    for (const space of [1, '\t', 0, 2])
      expect(
        await run(operation, (fetch, done) => {
          respond(fetch, done, () => JSON.stringify({ data: { users: [{ id: ' 1 ', name: 'A: [ "B" ]' }] } }, null, space));
        }),
      ).toBe('{"data":{"users":[{"id":" 1 ","name":"A: [ \\"B\\" ]"}]}}');
    expect(paths).toEqual(['bytes', 'bytes', 'bytes', 'bytes']);
  });

  it('accepts a line feed behind the response', async () => {
    expect((await runOnce('{ users { id name } }', () => `${USERS}\r\n`)).result).toBe(USERS);
  });

  it('writes fields by the conditions of the request', async () => {
    const query = 'query ($a: Boolean!) { me { name @include(if: $a) id @skip(if: $a) } }';
    const text: Respond = ({ variables }) => (variables['a'] === true ? '{"data":{"me":{"name":"A"}}}' : '{"data":{"me":{"id":"1"}}}');
    expect(await runOnce(query, text, { a: true })).toMatchObject({ result: '{"data":{"me":{"name":"A"}}}', path: 'bytes' });
    expect(await runOnce(query, text, { a: false })).toMatchObject({ result: '{"data":{"me":{"id":"1"}}}', path: 'bytes' });
  });
});

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
      compose({ users: 'type Query { users: [User] } type User { id: ID }', other: 'type Query { extra: Int }' }),
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
});

describe('an entity whose fields another subgraph requires', () => {
  const STOCK = compose({
    list: 'type Query { items: [Item] } type Item @key(fields: "id") { id: ID! }',
    prices: 'type Item @key(fields: "id") { id: ID! price: Int unit: Unit! } type Unit @shareable { name: String }',
    freight: `type Item @key(fields: "id") { id: ID! price: Int @external unit: Unit! @external
      freight: Int @requires(fields: "price unit { name }") } type Unit @shareable { name: String }`,
  });
  const texts: Record<string, string> = {
    list: '{"data":{"items":[{"id":"1"},null,{"id":"2"},{"id":"1"}]}}',
    prices: '{"data":{"_entities":[{"price":5,"unit":{"name":"kg"},"id":"1"},{"price":null,"unit":{"name":null},"id":"2"}]}}',
    freight: '{"data":{"_entities":[{"freight":10},{"freight":20}]}}',
  };
  const run = async (query: string, own: Record<string, string> = {}) => {
    const { run: execute, paths } = createRunner();
    const sent: unknown[] = [];
    const result = await execute(prepare(query, STOCK), (fetch, done) => {
      const { variables } = JSON.parse(fetch.body) as { variables: { representations?: unknown } };
      sent.push(variables.representations);
      respond(fetch, done, ({ service }) => own[service] ?? texts[service] ?? '');
    });
    return { result, path: paths.join(), sent };
  };

  it('is found in the response of the fetch that has these fields', async () => {
    const { result, path, sent } = await run('{ items { freight } }');
    expect([result, path]).toEqual(['{"data":{"items":[{"freight":10},null,{"freight":20},{"freight":10}]}}', 'bytes']);
    expect(sent.at(-1)).toEqual([
      { __typename: 'Item', id: '1', price: 5, unit: { name: 'kg' } },
      { __typename: 'Item', id: '2', price: null, unit: { name: null } },
    ]);
  });

  it('is written around the fields that it requires', async () => {
    const prices = '{"data":{"_entities":[{"unit":{"name":"kg"},"id":"1","price":5},{"unit":{"name":null},"id":"2","price":null}]}}';
    const { result, path } = await run('{ items { id freight price } }', { prices });
    expect(path).toBe('bytes');
    expect((JSON.parse(result) as { data: { items: unknown[] } }).data.items).toEqual([
      { id: '1', freight: 10, price: 5 },
      null,
      { id: '2', freight: 20, price: null },
      { id: '1', freight: 10, price: 5 },
    ]);
  });
});

describe('the executor on bytes', () => {
  it('pauses for an operation whose responses differ, longer each time', async () => {
    const { run, paths } = createRunner();
    const operation = prepare('{ me { name } }');
    for (let i = 0; i < 8; i++)
      await run(operation, (fetch, done) => {
        respond(fetch, done, () => '{"extensions":{},"data":{"me":null}}');
      });
    expect(paths).toEqual(['difference', 'pause', 'difference', 'pause', 'pause', 'pause', 'difference', 'pause']);
  });

  it('never mixes the responses of requests that are in flight together', async () => {
    const { run, paths, arenas } = createRunner();
    const operation = prepare('query ($n: String) { users { name orders { n product { title } } } }'.replace('query ($n: String) ', ''));
    const waiting: (() => void)[] = [];
    const results = Array.from({ length: 200 }, (_, request) => {
      const marker = `m${request}m${'x'.repeat(request * 7)}`;
      const texts = {
        users: `{"data":{"users":[{"id":"${marker}","name":"${marker}"}]}}`,
        orders: `{"data":{"_entities":[{"orders":[{"n":${request},"product":{"id":"${marker}"}}]}]}}`,
        products: `{"data":{"_entities":[{"title":"${marker}"}]}}`,
      };
      const expected = `{"data":{"users":[{"name":"${marker}","orders":[{"n":${request},"product":{"title":"${marker}"}}]}]}}`;
      const isSpoiled = request % 5 === 0;
      const send: SendFetch = (fetch, done) => {
        waiting.push(() => {
          respond(fetch, done, (sent) =>
            byService(texts)(sent).replace(isSpoiled && sent.service === 'orders' ? '{"data"' : '\0', '{"extensions":{},"data"'),
          );
        });
      };
      return run(operation, send).then((result) => [result, expected]);
    });
    // Responses arrive in another order than the requests.
    while (waiting.length > 0) waiting.splice(Math.floor((waiting.length * 7919) / 10_007) % waiting.length, 1)[0]?.();
    for (const [result, expected] of await Promise.all(results)) expect(result).toBe(expected);
    expect(paths.filter((path) => path === 'bytes').length).toBeGreaterThan(100);
    expect(arenas.counts.used).toBe(0);
  });

  it('leaves keys that are chosen to be large or many to arenas that grow', async () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => `user-${i}-${'y'.repeat(i % 50)}`);
    const { result, path } = await runOnce('{ users { id count } }', ({ service, variables }) =>
      service === 'users'
        ? JSON.stringify({ data: { users: ids.map((id) => ({ id })) } })
        : JSON.stringify({ data: { _entities: (variables['representations'] as unknown[]).map((_, i) => ({ count: i })) } }),
    );
    expect(path).toBe('bytes');
    expect(JSON.parse(result)).toEqual({ data: { users: ids.map((id, count) => ({ id, count })) } });
  });
});
