/** Fields below a fragment on one type, which Apollo's planner fetches for objects of other types too. Each runs on the real gateway. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;

describe('fields that are selected for one type', () => {
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

  beforeAll(async () => {
    federation = await startFederation(blog);
  });
  afterAll(() => federation.stop());
  beforeEach(() => {
    federation.received.length = 0;
  });

  // GraphQL §6.3.2 (CollectFields): a fragment applies to objects of its type alone.
  it('are not fetched for objects of other types, so that these get no errors', async () => {
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

  it('may use one response key for different fields', async () => {
    const { body } = await federation.ask(
      '{ nodes { ... on Node { id } ... on Comment { author { x: name } } ... on Post { author { x: email } } } }',
    );
    expect(body.data?.['nodes']).toEqual([
      { id: 'c1', author: { x: 'Ada' } },
      { id: 'p1', author: { x: 'ada@example.com' } },
      { id: 'c2', author: { x: 'Ada' } },
    ]);
  });

  it('are fetched once when they are the same for all types', async () => {
    const { body } = await federation.ask('{ nodes { ... on Comment { author { name } } ... on Post { author { name } } } }');
    expect(body).toEqual({ data: { nodes: [comment, comment, comment] } });
    expect(federation.received.map(({ subgraph, variables }) => [subgraph, variables])).toEqual([
      ['a', {}],
      ['b', { representations: [{ __typename: 'User', id: '1' }] }],
    ]);
  });
});
