/** Fragments on types that only some subgraphs have behind a union or interface, answered by the real gateway. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const COMMON = { __typename: 'Common', c: 'common' };
const ONLY = { A: { __typename: 'OnlyA', a: 'only a' }, B: { __typename: 'OnlyB', b: 'only b' } };
const resolveType = { __resolveType: ({ __typename }: { __typename: string }) => __typename };

/** A subgraph that shares a field of a union with another one, and has a member of the union for itself. */
function shareUnion(own: 'A' | 'B', fields: string) {
  const actions = [COMMON, ONLY[own]];
  return {
    sdl: `type Query { root${own}: Container shared: Container @shareable }
      type Container @key(fields: "id") { id: ID! wrapper: Wrapper @shareable ${fields} }
      type Wrapper @shareable { actions: [Action!]! } union Action = Common | Only${own}
      type Common @shareable { c: String } type Only${own} { ${own.toLowerCase()}: String }`,
    resolvers: {
      Query: { [`root${own}`]: () => ({ id: '1' }), shared: () => ({ id: '1', actions: [COMMON] }) },
      Container: {
        __resolveReference: (key: object) => key,
        wrapper: (parent: { actions?: object[] }) => ({ actions: parent.actions ?? actions }),
        ...(own === 'B' && { extra: () => 7, wrapperOfB: () => ({ actions }) }),
      },
      Action: resolveType,
    },
  };
}

const ACTIONS = 'actions { __typename ... on Common { c } ... on OnlyA { a } ... on OnlyB { b } }';

describe('a union of which two subgraphs have different members, below a field that both share', () => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation({ a: shareUnion('A', ''), b: shareUnion('B', 'extra: Int wrapperOfB: Wrapper') });
  });
  afterAll(() => federation.stop());

  // GraphQL §6.3.2 (CollectFields): a fragment applies to every object of its type.
  it('has the members of the subgraph that resolves it, with their fields', async () => {
    const ask = async (query: string) => (await federation.ask(query)).body;
    expect(await ask(`{ rootA { wrapper { ${ACTIONS} } } }`)).toEqual({
      data: { rootA: { wrapper: { actions: [COMMON, ONLY.A] } } },
    });
    expect(await ask(`{ rootB { wrapper { ${ACTIONS} } } }`)).toEqual({
      data: { rootB: { wrapper: { actions: [COMMON, ONLY.B] } } },
    });
    expect(await ask(`{ rootA { wrapperOfB { ${ACTIONS} } } }`)).toEqual({
      data: { rootA: { wrapperOfB: { actions: [COMMON, ONLY.B] } } },
    });
    expect(await ask(`{ shared { wrapper { ${ACTIONS} } } }`)).toEqual({ data: { shared: { wrapper: { actions: [COMMON] } } } });
  });

  it('is fetched from one subgraph only, also beside fields of another one', async () => {
    federation.received.length = 0;
    const { body } = await federation.ask(`{ rootA { extra wrapper { ${ACTIONS} } } }`);
    expect(body).toEqual({ data: { rootA: { extra: 7, wrapper: { actions: [COMMON, ONLY.A] } } } });
    expect(federation.received.map(({ subgraph, query }) => [subgraph, query.includes('actions')])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    expect((await federation.ask('{ rootA { wrapper { actions { __typename ... on OnlyB { b } } } } }')).body).toEqual({
      data: { rootA: { wrapper: { actions: [{ __typename: 'Common' }, { __typename: 'OnlyA' }] } } },
    });
  });
});

describe('a root field that two subgraphs share', () => {
  it('is resolved by the subgraph that has the most types behind its interface', async () => {
    const objects = [
      { __typename: 'Book', id: '1' },
      { __typename: 'Game', id: '2' },
    ];
    const item = (names: readonly string[]) => `type Query { items: [Item!]! @shareable } interface Item { id: ID! }
      ${names.map((name) => `type ${name} implements Item @key(fields: "id") { id: ID! name${name}: String @shareable }`).join(' ')}`;
    const resolvers = {
      Query: { items: () => objects },
      Item: resolveType,
      Book: { __resolveReference: (key: object) => key, nameBook: () => 'a book' },
    };
    const gameResolvers = { Game: { __resolveReference: (key: object) => key, nameGame: () => 'a game' } };
    const federation = await startFederation({
      books: { sdl: item(['Book']), resolvers },
      games: { sdl: item(['Book', 'Game']), resolvers: { ...resolvers, ...gameResolvers } },
    });
    const { body } = await federation.ask('{ items { ... on Book { nameBook } ... on Game { nameGame } } }');
    await federation.stop();
    expect(body).toEqual({ data: { items: [{ nameBook: 'a book' }, { nameGame: 'a game' }] } });
  });
});
