/** Two subgraphs of lamps with `@cacheControl`, whose values the test changes. */
import { createTopic } from '../../stack/federation/topic.ts';

export const CACHE_CONTROL = `
extend schema @link(url: "https://trestle.example/cacheControl/v0.1", import: ["@cacheControl"]) @composeDirective(name: "@cacheControl")
enum cacheControl__Scope { PUBLIC PRIVATE }
directive @cacheControl(maxAge: Int, scope: cacheControl__Scope, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
`;

export interface Renamed {
  readonly id: string;
  readonly tag: string | null;
}

/** Events of the subgraph `lamps`. */
export const renamed = createTopic<Renamed>();

/** What the subgraphs say. */
export const state = { name: 'first', price: 1, isBroken: false };

export const LAMPS = {
  lamps: {
    sdl: `${CACHE_CONTROL}
      type Query {
        lamp: Lamp @cacheControl(maxAge: 600)
        mine: Lamp @cacheControl(maxAge: 600, scope: PRIVATE)
        note: Note @cacheControl(maxAge: 600)
        brief: String @cacheControl(maxAge: 1)
        never: String
        failing: String @cacheControl(maxAge: 600)
        secret: String @authenticated @cacheControl(maxAge: 600)
        found(filter: Filter, ids: [Int!], first: Int = 2): String @cacheControl(maxAge: 600)
        long(length: Int!): String @cacheControl(maxAge: 600)
        other: Other @cacheControl(maxAge: 600)
        lamps(ids: [ID!]!): [Lamp] @cacheControl(maxAge: 600)
      }
      input Filter { a: Int b: Int }
      type Lamp @key(fields: "id") { id: ID! name: String }
      type Other { name: String }
      interface Note { text: String }
      type Diary implements Note { text: String @cacheControl(scope: PRIVATE) }
      type Renamed { tag: String lamp: Lamp }
      type Subscription { renamed: Renamed }
      type Mutation { rename(name: String!): Lamp touch(name: String!): Boolean fail: Lamp! }`,
    resolvers: {
      Query: {
        lamp: () => ({ id: '1', name: state.name }),
        mine: () => ({ id: '2', name: state.name }),
        note: () => ({ __typename: 'Diary', text: state.name }),
        brief: () => state.name,
        never: () => state.name,
        failing: () => {
          if (state.isBroken) throw new Error('broken');
          return state.name;
        },
        secret: () => state.name,
        found: () => state.name,
        long: (_: unknown, { length }: { length: number }) => 'x'.repeat(length),
        other: () => ({ name: state.name }),
        lamps: (_: unknown, { ids }: { ids: string[] }) => ids.map((id) => ({ id, name: state.name })),
      },
      Subscription: {
        renamed: { subscribe: () => renamed.listen(), resolve: ({ id, tag }: Renamed) => ({ tag, lamp: { id, name: state.name } }) },
      },
      Mutation: {
        rename: (_: unknown, { name }: { name: string }) => ({ id: '1', name: (state.name = name) }),
        touch: (_: unknown, { name }: { name: string }) => (state.name = name) === name,
        fail: () => {
          throw new Error('broken');
        },
      },
    },
  },
  prices: {
    sdl: `${CACHE_CONTROL}
      type Lamp @key(fields: "id") { id: ID! price: Int @cacheControl(maxAge: 600) code: String @cacheControl(maxAge: 600) }`,
    resolvers: {
      Lamp: {
        __resolveReference: (lamp: object) => lamp,
        price: () => state.price,
        code: ({ id }: { id: string }) => `${id} ${state.name}`,
      },
    },
  },
};
