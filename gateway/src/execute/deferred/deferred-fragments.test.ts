/** What one fragment with `@defer` is: the client gets its fields together, and those of another fragment apart. */
import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import { createPlanner } from '../../plan/planner.ts';
import { composeSupergraph } from '../test-access.ts';
import { type Answer, createRun } from './test-deferred.ts';

const SDL = composeSupergraph({
  users: `type Query { me: User node: Node } interface Node { id: ID! }
    type User implements Node @key(fields: "id") { id: ID! name: String bio: String! }
    type Group implements Node @key(fields: "id") { id: ID! title: String }`,
  orders: 'type User @key(fields: "id") { id: ID! orders: Int }',
  stock: 'type User @key(fields: "id") { id: ID! stock: Int }',
});
const answer: Answer = (_, query, representations) => {
  const user = { __typename: 'User', id: '1', name: 'Ada', bio: 'x', orders: 5, stock: 7 };
  if (representations.length > 0) return { data: { _entities: representations.map(() => user) } };
  return { data: query.includes('node') ? { node: user } : { me: user } };
};
const run = createRun(createPlanner(SDL, { ...DEFAULT_LIMITS, maxDeferred: 20 }), answer);

interface Response {
  readonly pending?: readonly { readonly id: string; readonly label?: string }[];
  readonly incremental?: readonly { readonly id: string; readonly data: unknown }[];
}

/** Returns the data of each fragment, with its label, in the order in which they were delivered. */
function deliveredBy(query: string, variables = {}): (readonly [label: string | undefined, data: unknown])[] {
  const responses = run(query, { variables }).responses as Response[];
  const labels = new Map(responses.flatMap(({ pending = [] }) => pending.map(({ id, label }) => [id, label])));
  return responses.flatMap(({ incremental = [] }) => incremental.map(({ id, data }) => [labels.get(id), data] as const));
}

describe('a deferred fragment', () => {
  it('is delivered at once, before those within it', () => {
    expect(deliveredBy('{ me { id ... @defer(label: "outer") { name orders ... @defer(label: "inner") { stock } } } }')).toEqual([
      ['outer', { name: 'Ada', orders: 5 }],
      ['inner', { stock: 7 }],
    ]);
  });

  it('is delivered at once with what it selects under conditions, and on some types only', () => {
    const query = `query ($v: Boolean!) { node { id ...F @defer(label: "f") } }
      fragment F on Node { id ... on User { orders ... @include(if: $v) { stock } ... @skip(if: $v) { bio } } ... on Group { title } }`;
    expect(deliveredBy(query, { v: true })).toEqual([['f', { id: '1', orders: 5, stock: 7 }]]);
    expect(deliveredBy(query, { v: false })).toEqual([['f', { id: '1', orders: 5, bio: 'x' }]]);
  });

  it('does not wait for another one of the same object that has no label either', () => {
    const { fetches } = run('{ me { id ...A @defer ...B @defer } } fragment A on User { orders } fragment B on User { stock }');
    expect(fetches.filter((each) => each === '|')).toHaveLength(3);
    expect(deliveredBy('{ me { id ...A @defer ...B @defer } } fragment A on User { orders } fragment B on User { stock }')).toEqual([
      [undefined, { orders: 5 }],
      [undefined, { stock: 7 }],
    ]);
  });

  it('is delivered once where the fragment around it is selected several times', () => {
    const query =
      '{ me { ...A ...B } me { ...B } } fragment A on User { id ...B } fragment B on User { ... @defer(label: "b") { orders } }';
    expect(deliveredBy(query)).toEqual([['b', { orders: 5 }]]);
  });

  it('is delivered once to an object that has the fragment around it by several types', () => {
    const fragment = 'fragment C on Node { ... @defer(label: "c") { id } }';
    for (const query of ['{ node { ...C ... on User { name ...C } } }', '{ node { ... on User { name ...C } ...C } }'])
      expect(deliveredBy(`${query} ${fragment}`)).toEqual([['c', { id: '1' }]]);
  });

  it('has no part of its own when none of its fields can be selected', () => {
    const query =
      'query ($v: Boolean!) { me { id ... @skip(if: $v) { ... @defer { orders @include(if: $v) ... @include(if: false) { bio } } } } }';
    expect(run(query, { variables: { v: false } }).responses).toEqual([]);
  });
});

it('an operation whose fragments spread each other is delivered in up to 100 parts, else as a whole', () => {
  const spreadTwice = (depth: number) => {
    const fragments = Array.from({ length: depth }, (_, i) => {
      const selection = i + 1 < depth ? `...F${String(i + 1)}` : '...';
      const [first, second] = ['a', 'b'].map(
        (name) => `${selection} @defer(label: "${name}${String(i)}") ${i + 1 < depth ? '' : '{ orders }'}`,
      );
      return `fragment F${String(i)} on User { ${String(first)} ${String(second)} }`;
    });
    return `{ me { id ...F0 } } ${fragments.join(' ')}`;
  };
  expect(run(spreadTwice(5)).responses).toHaveLength(1 + 2 + 4 + 8 + 16 + 32);
  expect(run(spreadTwice(8)).responses).toEqual([]);
});
