/** Deferred fragments of one operation: what is fetched when, and what the client gets, without a network. */
import { describe, expect, it } from '@jest/globals';
import { composeSupergraph } from '../test-access.ts';
import { createPlanner } from '../../plan/planner.ts';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import type { IncrementalFormat } from '../../request/operation.ts';
import { MAX_TARGETS } from './deferred-execution.ts';
import { type Answer, createRun } from './test-deferred.ts';

const SDL = composeSupergraph({
  users: `type Query { me: User users: [User!]! node: Node } interface Node { id: ID! }
    type User implements Node @key(fields: "id") { id: ID! name: String bio: String! }
    type Group implements Node @key(fields: "id") { id: ID! title: String }
    type Mutation { rename: User }`,
  orders: 'type User @key(fields: "id") { id: ID! orders: [Order!]! } type Order @key(fields: "id") { id: ID! total: Int }',
  stock: 'type Order @key(fields: "id") { id: ID! weight: Int! }',
});
const planner = createPlanner(SDL, { ...DEFAULT_LIMITS, maxDeferred: 20 });

const USERS: Record<string, { name: string; bio: string | null }> = { '1': { name: 'Ada', bio: 'x' }, '2': { name: 'Bob', bio: null } };
const answer: Answer = (service, query, representations) => {
  if (representations.length > 0)
    return {
      data: {
        _entities: representations.map(({ id }) =>
          service === 'users'
            ? { __typename: 'User', ...USERS[id] }
            : service === 'orders'
              ? { __typename: 'User', orders: [{ __typename: 'Order', id: `o${id}`, total: 5 }] }
              : { __typename: 'Order', weight: id === 'o2' ? null : 7 },
        ),
      },
    };
  const user = (id: string) => ({ __typename: 'User', id, ...USERS[id] });
  if (query.includes('users')) return { data: { users: [user('1'), user('2')] } };
  if (query.includes('node')) return { data: { node: user('1') } };
  if (query.includes('rename')) return { data: { rename: user('1') } };
  return { data: { me: user('1') } };
};

const run = createRun(planner, answer);

describe('DeferredExecution', () => {
  it('delivers a fragment of another subgraph after the first response', () => {
    const { responses, fetches } = run('{ me { name ... @defer(label: "o") { orders { total } } } }');
    expect(fetches).toEqual(['users', 'orders', '|', '|']);
    expect(responses).toEqual([
      { data: { me: { name: 'Ada' } }, pending: [{ id: '0', path: ['me'], label: 'o' }], hasNext: true },
      { incremental: [{ id: '0', data: { orders: [{ total: 5 }] } }], completed: [{ id: '0' }], hasNext: false },
    ]);
  });

  it('defers fields of the same subgraph too', () => {
    const { responses, fetches } = run('{ me { name ... @defer { bio } } }');
    expect(fetches).toEqual(['users', 'users', '|', '|']);
    expect(responses[1]).toEqual({ incremental: [{ id: '0', data: { bio: 'x' } }], completed: [{ id: '0' }], hasNext: false });
  });

  it('delivers a fragment in a list for each item, and completes one with errors where a required field is null', () => {
    const { responses } = run('{ users { id ...F @defer } } fragment F on User { bio }');
    expect(responses).toEqual([
      {
        data: { users: [{ id: '1' }, { id: '2' }] },
        pending: [
          { id: '0', path: ['users', 0] },
          { id: '1', path: ['users', 1] },
        ],
        hasNext: true,
      },
      {
        incremental: [{ id: '0', data: { bio: 'x' } }],
        completed: [
          { id: '0' },
          { id: '1', errors: [{ message: 'Cannot return null for non-nullable field User.bio.', path: ['users', 1, 'bio'] }] },
        ],
        hasNext: false,
      },
    ]);
  });

  it('has the aliases of the client in its paths where fetches have other response keys', () => {
    const reply: Answer = (_service, _query, representations) =>
      representations.length > 0
        ? { data: { _entities: representations.map(({ id }) => ({ __typename: 'User', __client_id_: USERS[id]?.bio })) } }
        : { data: { __client_id_: ['1', '2'].map((id) => ({ __typename: 'User', id, name: 'Ada' })) } };
    const { responses } = run('{ id: users { name ...F @defer } } fragment F on User { id: bio }', { reply });
    expect(responses).toEqual([
      {
        data: { id: [{ name: 'Ada' }, { name: 'Ada' }] },
        pending: [
          { id: '0', path: ['id', 0] },
          { id: '1', path: ['id', 1] },
        ],
        hasNext: true,
      },
      {
        incremental: [{ id: '0', data: { id: 'x' } }],
        completed: [
          { id: '0' },
          { id: '1', errors: [{ message: 'Cannot return null for non-nullable field User.bio.', path: ['id', 1, 'id'] }] },
        ],
        hasNext: false,
      },
    ]);
  });

  it('delivers parts of one object, of which the fetches around them brought no more than its key', () => {
    const reply: Answer = (service, _, representations) => {
      if (representations.length === 0) return { data: { me: { __typename: 'User', id: '1' } } };
      if (service === 'users') return { data: { _entities: [{ __typename: 'User', name: 'Ada' }] } };
      if (service === 'stock') return { data: { _entities: [{ __typename: 'Order', weight: 7 }] } };
      return { data: { _entities: [{ __typename: 'User', orders: [{ __typename: 'Order', id: 'o1' }] }] } };
    };
    const query = '{ me { id ... @defer(label: "n") { name } ... @defer(label: "o") { orders { id ... @defer { weight } } } } }';
    const { responses } = run(query, { reply });
    expect(responses.slice(1)).toEqual([
      { incremental: [{ id: '0', data: { name: 'Ada' } }], completed: [{ id: '0' }], hasNext: true },
      {
        incremental: [{ id: '1', data: { orders: [{ id: 'o1' }] } }],
        pending: [{ id: '2', path: ['me', 'orders', 0] }],
        completed: [{ id: '1' }],
        hasNext: true,
      },
      { incremental: [{ id: '2', data: { weight: 7 } }], completed: [{ id: '2' }], hasNext: false },
    ]);
  });

  it('delivers fragments within fragments after those around them', () => {
    const { responses, fetches } = run('{ me { id ... @defer(label: "a") { orders { id ... @defer(label: "b") { weight } } } } }');
    expect(fetches).toEqual(['users', 'orders', 'stock', '|', '|', '|']);
    expect(responses.slice(1)).toEqual([
      {
        incremental: [{ id: '0', data: { orders: [{ id: 'o1' }] } }],
        pending: [{ id: '1', path: ['me', 'orders', 0], label: 'b' }],
        completed: [{ id: '0' }],
        hasNext: true,
      },
      { incremental: [{ id: '1', data: { weight: 7 } }], completed: [{ id: '1' }], hasNext: false },
    ]);
  });

  it('fetches a fragment as soon as what it depends on is there, and delivers it after the first response', () => {
    const { responses, fetches } = run('{ me { id orders { total } ... @defer { bio } } }');
    expect(fetches).toEqual(['users', 'users', 'orders', '|', '|']);
    expect(responses).toMatchObject([{ data: { me: { id: '1' } } }, { incremental: [{ data: { bio: 'x' } }] }]);
  });

  it('delivers a fragment only where the conditions of the fields around it hold, and no field that the client did not select', () => {
    const query = 'query ($v: Boolean!) { me { id } me @skip(if: $v) { ... @defer { name orders { id @include(if: false) } } } }';
    expect(run(query, { variables: { v: true } }).responses).toEqual([{ data: { me: { id: '1' } } }]);
    expect(run(query, { variables: { v: false } }).responses[1]).toMatchObject({ incremental: [{ data: { name: 'Ada', orders: [{}] } }] });
    expect(JSON.stringify(run(query, { variables: { v: false } }).responses)).not.toContain('__typename');
  });

  it('defers by the value of a variable', () => {
    const query = 'query ($v: Boolean!) { me { id ... @defer(if: $v) { orders { total } } } }';
    expect(run(query, { variables: { v: true } }).responses).toHaveLength(2);
    expect(run(query, { variables: { v: false } }).responses).toEqual([{ data: { me: { id: '1', orders: [{ total: 5 }] } } }]);
  });

  it('defers a fragment on the query, on one type of an interface, and below a mutation', () => {
    expect(run('{ me { id } ... @defer { users { name } } }').responses[1]).toMatchObject({
      incremental: [{ data: { users: [{ name: 'Ada' }, { name: 'Bob' }] } }],
    });
    expect(run('{ node { id ... on User @defer { orders { total } } ... on Group @defer { title } } }').responses).toEqual([
      { data: { node: { id: '1' } }, pending: [{ id: '0', path: ['node'] }], hasNext: true },
      { incremental: [{ id: '0', data: { orders: [{ total: 5 }] } }], completed: [{ id: '0' }], hasNext: false },
    ]);
    expect(run('mutation { rename { id ... @defer { orders { total } } } }').fetches).toEqual(['users', 'orders', '|', '|']);
  });

  describe.each<IncrementalFormat>(['current', '2022'])('an object whose required field is null (format %s)', (spec) => {
    const reply: Answer = (service, query, representations) =>
      representations.length === 0 && query.includes('me')
        ? { data: { me: { __typename: 'User', id: '2', name: 'Bob', bio: null }, node: { __typename: 'User', id: '1' } } }
        : answer(service, query, representations);
    const dataOf = (query: string) => {
      const [first, ...later] = run(query, { reply, spec }).responses as Response[];
      const parts = later.flatMap(({ incremental = [], completed = [] }) => [
        ...incremental.map(({ data }) => data),
        ...completed.flatMap(({ errors }) => (errors ? [null] : [])),
      ]);
      return [first?.data, ...parts];
    };

    it('in the first response stays null in fragments that do not select the field, and has no fragments of its own', () => {
      expect(dataOf('{ me { bio } ... @defer { me { id } node { id } } }')).toEqual([{ me: null }, { me: null, node: { id: '1' } }]);
      expect(dataOf('{ me { bio ... @defer { id } } }')).toEqual([{ me: null }]);
      expect(dataOf('{ ... @defer(label: "a") { me { bio ... @defer { id } } } ... @defer(label: "b") { me { id } } }')).toEqual([
        {},
        { me: null },
        { me: null },
      ]);
    });

    it('is not taken back from a client that has it: the fragment has no data, and those below the object are delivered', () => {
      const query = '{ me { id } ... @defer { me { bio } } me { ... @defer { orders { total } } } }';
      expect(dataOf(query)).toEqual([{ me: { id: '2' } }, { orders: [{ total: 5 }] }, null]);
      const nested = '{ ... @defer(label: "a") { me { id ... @defer { orders { total } } } } ... @defer(label: "b") { me { bio } } }';
      expect(dataOf(nested)).toEqual([{}, { me: { id: '2' } }, { orders: [{ total: 5 }] }, null]);
    });
  });

  interface Response {
    readonly data?: unknown;
    readonly incremental?: readonly { readonly data: unknown }[];
    readonly completed?: readonly { readonly errors?: unknown }[];
  }

  it('writes the format of 2022 with paths, labels and the errors of a failed fragment', () => {
    const reply: Answer = (service, query, representations) =>
      service === 'orders' ? { data: null, errors: [{ message: 'no' }] } : answer(service, query, representations);
    expect(run('{ me { id ... @defer(label: "o") { orders { total } } } }', { spec: '2022', reply }).responses).toEqual([
      { data: { me: { id: '1' } }, hasNext: true },
      { incremental: [{ data: null, path: ['me'], label: 'o', errors: [{ message: 'no', path: ['me', 'orders'] }] }], hasNext: false },
    ]);
  });

  it('refuses @stream on what is no list, and with a negative count', () => {
    const prepare = (query: string) =>
      JSON.stringify(planner.prepare({ query, operationName: undefined, labels: [], isIncremental: true })).slice(0, 100);
    expect(prepare('{ me @stream { id } }')).toContain('@stream is not allowed on me, which is no list.');
    expect(prepare('{ users @stream(initialCount: -1) { id } }')).toContain('initialCount of @stream must not be negative.');
    expect(prepare('{ users @stream(initialCount: 1) { id } }')).toContain('{"program"');
  });

  it('refuses labels that are not unique, deferred root fields of a mutation and more directives than the limit', () => {
    const refuse = (query: string) => JSON.stringify(planner.prepare({ query, operationName: undefined, labels: [], isIncremental: true }));
    expect(refuse('{ me { ... @defer(label: "a") { id } ... @defer(label: "a") { name } } }')).toContain('must be unique');
    expect(refuse('mutation { ... @defer { rename { id } } }')).toContain('not allowed on root fields of a mutation');
    expect(refuse(`{ me { ${'... @defer { id } '.repeat(21)} } }`)).toContain('more than 20 directives');
  });

  it('reports an error when the deferred fragments have more objects than the limit', () => {
    const users = Array.from({ length: MAX_TARGETS + 1 }, (_, i) => ({ __typename: 'User', id: String(i) }));
    const reply: Answer = (service, query, representations) =>
      query.includes('users') ? { data: { users } } : answer(service, query, representations);
    const [first] = run('{ users { id ... @defer { orders { total } } } }', { reply }).responses as [
      { errors: unknown; pending: unknown[] },
    ];
    expect(first.pending).toHaveLength(MAX_TARGETS);
    expect(first.errors).toMatchObject([{ message: expect.stringContaining('more than 10000 objects') }]);
  });
});
