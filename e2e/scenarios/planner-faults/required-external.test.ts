/** A `@requires` whose fields the subgraph before has as `@external`: Apollo's planner would ask that subgraph for them. On the real gateway. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;
beforeAll(async () => {
  federation = await startFederation({
    feed: {
      sdl: `type Query { feed: [Post] } type Comment @key(fields: "id") { id: ID! authorId: ID }
        type Post @key(fields: "id") { id: ID! comments: [Comment] @external count: Int @requires(fields: "comments { id }") }`,
      resolvers: { Query: { feed: () => [{ id: 'p1' }] }, Comment: { __resolveReference: (key: object) => ({ ...key, authorId: 'a1' }) } },
    },
    comments: {
      sdl: `type Comment @key(fields: "id") { id: ID! authorId: ID @external }
        type Post @key(fields: "id") { id: ID! comments: [Comment] author: String @requires(fields: "comments { authorId }") }`,
      resolvers: {
        Post: {
          __resolveReference: ({ id, comments }: { id: string; comments?: unknown }) => ({ id, given: comments }),
          comments: () => [{ id: 'c1' }],
          author: ({ given }: { given?: { authorId: string }[] }) => given?.[0]?.authorId,
        },
      },
    },
  });
});
afterAll(() => federation.stop());

it('asks the subgraph that resolves a field that @requires names, not one where it is @external', async () => {
  expect((await federation.ask('{ feed { author } }')).body).toEqual({ data: { feed: [{ author: 'a1' }] } });
});
