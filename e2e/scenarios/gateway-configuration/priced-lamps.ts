/** Two subgraphs for rules for headers: the second one completes what the first one has. */

async function* onceLit() {
  await Promise.resolve();
  yield { lit: { id: '1' } };
}

/** The subgraphs `lamps` and `prices`. */
export const SOURCES = {
  lamps: {
    sdl: `type Query { lamp: Lamp } type Mutation { dim: Int } type Lamp @key(fields: "id") { id: ID! }
      type Subscription { lit: Lamp }`,
    resolvers: { Query: { lamp: () => ({ id: '1' }) }, Mutation: { dim: () => 1 }, Subscription: { lit: { subscribe: onceLit } } },
  },
  prices: {
    sdl: 'type Lamp @key(fields: "id") { id: ID! price: Int }',
    resolvers: { Lamp: { __resolveReference: (lamp: object) => lamp, price: () => 5 } },
  },
};

/** Needs a fetch from each. */
export const QUERY = '{ lamp { price } }';
