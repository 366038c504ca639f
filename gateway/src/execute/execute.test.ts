/** Plans and executes without a network, so that subgraphs can return anything. */
import { composeServices } from '@apollo/composition';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createPlanner } from '../plan/planner.ts';
import { link } from '../program/operation.ts';
import type { Data } from '../program/program.ts';
import type { SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { type Executed, type ExecutionRequest, execute } from './execute.ts';
import { readVariables } from './variables.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires"])';

function compose(sdls: Record<string, string>): string {
  const services = Object.entries(sdls).map(([name, sdl]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors.map(({ message }) => message).join());
  return supergraphSdl;
}

interface SentFetch {
  readonly service: string;
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

/** Executes a query; `answer` returns the result of each fetch. */
function run(
  sdl: string,
  { query, variables = {}, answer }: { query: string; variables?: Record<string, unknown>; answer: (fetch: SentFetch) => SubgraphResult },
) {
  const prepared = createPlanner(sdl, DEFAULT_LIMITS).prepare({ query, operationName: undefined, labels: [] });
  if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
  const operation = link(prepared.program);
  const conditions = readVariables(prepared.program.variables, variables);
  const fetches: SentFetch[] = [];
  const send: ExecutionRequest['send'] = ({ service, body }, done) => {
    const one = { service, ...(JSON.parse(body) as { query: string; variables: Record<string, unknown> }) };
    fetches.push(one);
    done(null, JSON.parse(JSON.stringify(answer(one))) as SubgraphResult);
  };
  let executed: Executed | undefined;
  execute({ operation, variables, conditions, context: {} as RequestContext, send }, (done) => {
    executed = done;
  });
  const { data, errors: found } = executed as unknown as Executed;
  const request = { conditions, introspection: {}, buffer: Buffer.alloc(2048), maxBytes: 1e9, faults: [], noteMissing: found.noteMissing };
  const written = found.hasFailures ? null : operation.compiled.write(data, request);
  const { bytes, length } = written ?? operation.compiled.explain(data, request);
  const errors = found.finish(request.faults);
  const text = bytes.toString('utf8', 0, length);
  return { text, data: (JSON.parse(`${text}}`) as { data: Data | null }).data, errors, fetches, program: prepared.program };
}

const PLAIN = compose({
  a: 'type Query { a: A! as: [A!] deep: [[Int!]!] any: Any color: Color id: ID f: Float } type A { n: Int! s: String a: A } scalar Any enum Color { RED }',
});
const plain = (query: string, data: object | null, errors?: object[]) =>
  run(PLAIN, { query, answer: () => ({ data, ...(errors && { errors }) }) as SubgraphResult });

describe('execute and the generated writer', () => {
  it.each(['plain', 'with "quotes", \\\\ and \\n', 'ünïcödé 🌉 \\u2028', 'x'.repeat(300), 'y'.repeat(5000), '🌉'.repeat(3000), ''])(
    'write any string unchanged',
    (text) => {
      expect(plain('{ a { s n } }', { a: { s: text, n: 1 } }).data).toEqual({ a: { s: text, n: 1 } });
    },
  );

  it('write any number unchanged', () => {
    for (const n of [0, -1, 9, 10, 2147483647, -2147483648]) expect(plain('{ a { n } }', { a: { n } }).data).toEqual({ a: { n } });
    for (const f of [0.1, -1e-7, 1e300, 5]) expect(plain('{ f }', { f }).data).toEqual({ f });
  });

  it('write fields in the order of the selection, by alias', () => {
    expect(plain('{ x: f color __typename any }', { any: { b: [1, null] }, color: 'RED', x: 1 }).text).toBe(
      '{"data":{"x":1,"color":"RED","__typename":"Query","any":{"b":[1,null]}}',
    );
  });

  it('propagate null to the nearest nullable field, and report the violation', () => {
    const list = plain('{ as { n s } }', {
      as: [
        { n: 1, s: null },
        { n: null, s: 'x' },
      ],
    });
    expect([list.data, list.errors]).toEqual([
      { as: null },
      [
        {
          path: ['as', 1, 'n'],
          message: 'Cannot return null for non-nullable field A.n.',
          extensions: { code: 'UPSTREAM_ERROR', service: 'a' },
        },
      ],
    ]);
    const inner = plain('{ a { n a { n a { n } } } f }', { a: { n: 1, a: { n: 2, a: { n: null } } }, f: 2 });
    expect([inner.data, inner.errors.map(({ path }) => path)]).toEqual([
      { a: { n: 1, a: { n: 2, a: null } }, f: 2 },
      [['a', 'a', 'a', 'n']],
    ]);
    expect(plain('{ a { n } f }', { f: 1 }).data).toBeNull();
    expect(plain('{ deep }', { deep: [[1], [2, null]] }).data).toEqual({ deep: null });
  });

  it('report only the error of the subgraph when there is one', () => {
    const { data, errors } = plain('{ as { n } f }', { as: null, f: null }, [
      { message: 'no', path: ['as', 0, 'n'], extensions: { code: 'GONE' } },
    ]);
    expect([data, errors]).toEqual([
      { as: null, f: null },
      [{ message: 'no', path: ['as', 0, 'n'], extensions: { code: 'GONE', service: 'a' } }],
    ]);
  });

  it.each([
    ['an object for a leaf', '{ f }', { f: {} }],
    ['a string for a number', '{ f }', { f: '1' }],
    ['a fraction for an Int', '{ as { n } }', { as: [{ n: 1.5 }] }],
    ['a list for an object', '{ as { n } }', { as: 7 }],
    ['a leaf for an object', '{ as { n } }', { as: ['x'] }],
    ['a value that the enum does not have', '{ color }', { color: 'BLUE' }],
    ['a list of numbers for a list of lists', '{ deep }', { deep: [1] }],
  ])('write null and an error for %s', (_, query, data) => {
    const result = plain(query, data);
    expect(Object.values(result.data ?? {})).toEqual([null]);
    expect(result.errors).toEqual([expect.objectContaining({ extensions: { code: 'UPSTREAM_ERROR', service: 'a' } })]);
  });

  it('write null for missing fields with names of inherited properties', () => {
    const sdl = compose({ a: 'type Query { constructor: Int toString: String valueOf: V } type V { hasOwnProperty: Int }' });
    const ask = (query: string, data: object) => run(sdl, { query, answer: () => ({ data }) as SubgraphResult }).data;
    expect(ask('{ constructor toString valueOf { hasOwnProperty } }', {})).toEqual({ constructor: null, toString: null, valueOf: null });
    expect(JSON.stringify(ask('{ __proto__: constructor }', JSON.parse('{"__proto__":7}') as object))).toBe('{"__proto__":7}');
  });
});

describe('execute with entities', () => {
  const sdl = compose({
    a: 'type Query { posts: [Post!]! pinned: Post } type Post { id: ID! author: User reviewer: User } type User @key(fields: "id") { id: ID! }',
    b: 'type User @key(fields: "id") { id: ID! name: String! friends: [User!] }',
  });
  const answer = ({ service, variables }: SentFetch): SubgraphResult => {
    const ada = { __typename: 'User', id: 'u1' };
    const bob = { __typename: 'User', id: 'u2' };
    if (service === 'a')
      return {
        data: {
          posts: [
            { author: ada, reviewer: bob },
            { author: ada, reviewer: null },
            { author: bob, reviewer: ada },
          ],
        },
      };
    const ids = (variables['representations'] as { id: string }[]).map(({ id }) => id);
    return {
      data: { _entities: ids.map((id) => (id === 'u2' ? null : { name: `name of ${id}`, friends: [] })) },
      errors: ids.flatMap((id, i) =>
        id === 'u2' ? [{ message: 'no such user', path: ['_entities', i, 'name'], extensions: { code: 'NOT_FOUND' } }] : [],
      ),
    };
  };

  it('fetches each entity once, and puts it and its errors in every place', () => {
    const { data, errors, fetches } = run(sdl, { query: '{ posts { author { name } } }', answer });
    expect(fetches[1]?.variables['representations']).toEqual([
      { __typename: 'User', id: 'u1' },
      { __typename: 'User', id: 'u2' },
    ]);
    expect(data).toEqual({ posts: [{ author: { name: 'name of u1' } }, { author: { name: 'name of u1' } }, { author: null }] });
    expect(errors.map(({ path, extensions }) => [path, extensions['code']])).toEqual([[['posts', 2, 'author', 'name'], 'NOT_FOUND']]);
  });

  it('merges entities that two fields fetch concurrently', () => {
    const { data } = run(sdl, { query: '{ posts { author { id name } reviewer { id friends { id } } } }', answer });
    expect(data).toEqual({
      posts: [
        { author: { id: 'u1', name: 'name of u1' }, reviewer: { id: 'u2', friends: null } },
        { author: { id: 'u1', name: 'name of u1' }, reviewer: null },
        { author: null, reviewer: { id: 'u1', friends: [] } },
      ],
    });
  });

  it('reports an error and writes null when the subgraph returns another number of entities', () => {
    const { data, errors } = run(sdl, {
      query: '{ posts { author { name } } }',
      answer: (fetch) => (fetch.service === 'a' ? answer(fetch) : { data: { _entities: [] } }),
    });
    expect(data).toEqual({ posts: [{ author: null }, { author: null }, { author: null }] });
    // GraphQL §7.1.2: the path of an error is that of the field that has it.
    expect(errors.map(({ path }) => path)).toEqual([0, 1, 2].map((i) => ['posts', i, 'author', 'name']));
    expect(errors[0]).toMatchObject({ extensions: { code: 'UPSTREAM_ERROR', service: 'b' } });
  });
});

describe('execute with errors of subgraphs', () => {
  const sdl = compose({
    a: 'type Query { me: User users: [User!] other: Int } type User @key(fields: "id") { id: ID! role: String }',
    b: 'type User @key(fields: "id") { id: ID! role: String @external karma: String! @requires(fields: "role") zone: String }',
  });
  const user = { __typename: 'User', id: '1' };
  const ask = (query: string, answers: { a: object; b?: object }) => {
    const { data, errors } = run(sdl, { query, answer: ({ service }) => answers[service as 'a' | 'b'] as SubgraphResult });
    return { data, errors: errors.map(({ path, message, extensions }) => [path, message, extensions]) };
  };

  // GraphQL §7.1.2: "path" is there where an error belongs to a field of the response; an empty one belongs to none.
  it('reports an error without a path: without one at the root, with that of its fetch below', () => {
    const error = { message: 'broken', extensions: { code: 'X' } };
    const reported = [undefined, 'broken', { code: 'X', service: 'a' }];
    expect(ask('{ me { id } other }', { a: { data: null, errors: [error] } })).toEqual({
      data: { me: null, other: null },
      errors: [reported],
    });
    expect(ask('{ other }', { a: { data: { other: null }, errors: [{ ...error, path: [] }] } }).errors).toEqual([reported]);
    expect(
      ask('{ users { zone } }', { a: { data: { users: [user] } }, b: { data: { _entities: [{ zone: 'z' }] }, errors: [error] } }),
    ).toEqual({ data: { users: [{ zone: 'z' }] }, errors: [[['users'], 'broken', { code: 'X', service: 'b' }]] });
  });

  it('reports nothing for a field whose subgraph returned no data because of an error at another field', () => {
    const strict = compose({ a: 'type Query { one: Int! two: Int! }' });
    const error = { message: 'broken', path: ['two'], extensions: { code: 'X' } };
    const { data, errors } = run(strict, { query: '{ one two }', answer: () => ({ data: null, errors: [error] }) });
    expect([data, errors.map(({ path, message }) => [path, message])]).toEqual([null, [[['two'], 'broken']]]);
  });

  it('reports an error without entity data once at each field that is missing because of it', () => {
    const error = { message: 'broken', extensions: { code: 'X' } };
    const b = { data: null, errors: [error] };
    const at = (...path: (string | number)[]) => [path, 'broken', { code: 'X', service: 'b' }];
    expect(ask('{ users { id zone } me { karma } }', { a: { data: { users: [user, user], me: { ...user, role: 'r' } } }, b })).toEqual({
      data: {
        users: [
          { id: '1', zone: null },
          { id: '1', zone: null },
        ],
        me: null,
      },
      errors: [at('users', 0, 'zone'), at('users', 1, 'zone'), at('me', 'karma')],
    });
  });

  it('reports an error at a hundred places at most, and counts the others in the last one', () => {
    const users = Array.from({ length: 250 }, (_, i) => ({ __typename: 'User', id: String(i) }));
    const { errors } = ask('{ users { zone } }', { a: { data: { users } }, b: { data: null, errors: [{ message: 'broken' }] } });
    expect(errors).toHaveLength(100);
    expect(errors.at(-1)).toEqual([['users', 99, 'zone'], 'broken', { service: 'b', count: 151 }]);
    const one = { data: { _entities: [{ zone: null }] }, errors: [{ message: 'broken', path: ['_entities', 0, 'zone'] }] };
    const shared = ask('{ users { zone } }', { a: { data: { users: users.map(() => user) } }, b: one }).errors;
    expect([shared.length, shared.at(-1)]).toEqual([100, [['users', 99, 'zone'], 'broken', { service: 'b', count: 151 }]]);
  });

  it('reports an error of a field that the client did not select at the field that requires it', () => {
    const a = { data: { me: { ...user, role: null } }, errors: [{ message: 'no role', path: ['me', 'role'] }] };
    expect(ask('{ me { karma } }', { a, b: { data: { _entities: [null] } } })).toEqual({
      data: { me: null },
      errors: [[['me', 'karma'], 'no role', { service: 'a' }]],
    });
    expect(ask('{ me { karma } }', { a, b: { data: { _entities: [{ karma: 'k' }] } } })).toEqual({
      data: { me: { karma: 'k' } },
      errors: [[['me'], 'no role', { service: 'a' }]],
    });
  });

  it.each([[[null]], [[7, 'text', []]], [[{ message: 3, path: 'me', extensions: [] }]], [[{ path: [null, {}] }]]])(
    'reports a value that is not an error object as an error without a message: %j',
    (errors) => {
      expect(ask('{ other }', { a: { data: { other: 1 }, errors } })).toEqual({
        data: { other: 1 },
        errors: errors.map(() => [undefined, 'The subgraph a reported an error without a message.', { service: 'a' }]),
      });
    },
  );
});

describe('text of a client in the generated code', () => {
  it('is a string literal or absent', () => {
    const hostile = 'alert("x");process.exit()//\\u2028`${1}';
    const { program, data, fetches } = run(PLAIN, {
      query: `query($s: Any) { f any x_: f ... @include(if: true) { __typename } } # ${hostile}`.replace('($s: Any)', ''),
      answer: () => ({ data: { f: 1, any: hostile, x_: 2 } }),
    });
    expect(program.code).not.toContain('process');
    expect(data).toMatchObject({ any: hostile });
    expect(fetches).toHaveLength(1);
  });

  it('is always a name: a document with anything else is not planned', () => {
    for (const query of ['{ a\\u2028: f }', '{ "x": f }', '{ f(x: "\\"}) }") }', '{ x;y: f }'])
      expect(createPlanner(PLAIN, DEFAULT_LIMITS).prepare({ query, operationName: undefined, labels: [] })).toHaveProperty('errors');
  });
});
