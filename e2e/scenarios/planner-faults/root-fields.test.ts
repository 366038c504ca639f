/** Root fields and mutations that Apollo's planner and executor drop, reorder or repeat. Each runs on the real gateway. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;
afterEach(() => federation.stop());

describe('a root field', () => {
  it('is an error, not a silent null, when no subgraph can resolve its selection', async () => {
    const node = { __resolveType: ({ id }: { id: string }) => (id.startsWith('a') ? 'Account' : 'Chat') };
    const resolvers = { Query: { node: (_: unknown, key: object) => key }, Node: node };
    const own = (type: string) => `type ${type} implements Node @key(fields: "id") { id: ID! name: String @shareable }`;
    const subgraph = `type Query { node(id: ID!): Node @shareable } interface Node { id: ID! } ${own('Account')} ${own('Chat')}`;
    federation = await startFederation(
      { accounts: { sdl: subgraph, resolvers }, chats: { sdl: subgraph, resolvers } },
      // A supergraph as a composition without this check may write it: a subgraph resolves `id` of the other's objects only by `node(id:)`.
      {
        patch: (sdl) =>
          sdl
            .replace(/(type Account[^{]*\{\s*id: ID!)/, '$1 @join__field(graph: ACCOUNTS) @join__field(graph: CHATS, external: true)')
            .replace(/(type Chat[^{]*\{\s*id: ID!)/, '$1 @join__field(graph: CHATS) @join__field(graph: ACCOUNTS, external: true)'),
      },
    );
    const { status, body } = await federation.ask('{ node(id: "a1") { id } }');
    expect(body.data).toBeNull();
    expect(body.errors).toEqual([expect.objectContaining({ message: 'The subgraphs cannot resolve every field of the operation.' })]);
    expect(status).toBe(200);
    expect(federation.received).toEqual([]);
    expect((await federation.ask('{ node(id: "a1") { __typename } }')).body).toEqual({ data: { node: { __typename: 'Account' } } });
  });

  it('is fetched when all its fields are skipped, so that it is an empty object and its mutation is executed', async () => {
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

describe('the fields of a mutation', () => {
  it('are executed in order, each of them once, whichever subgraphs resolve them', async () => {
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
});
