/** Three subgraphs with fixed data for the benchmark. They are not subgraphs of this repository. */
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';

export const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@shareable"])';

const users = Array.from({ length: 300 }, (_, i) => ({
  id: `u${i + 1}`,
  name: `User number ${i + 1}`,
  email: `user${i + 1}@example.org`,
  bio: 'Builds bridges in the morning and boats in the afternoon, and draws plans of both at night.',
}));
const products = Array.from({ length: 40 }, (_, i) => ({
  id: `p${i + 1}`,
  name: `Product number ${i + 1}`,
  price: 100 + i,
  category: `c${i % 6}`,
}));
const ordersOf = (userId, count) =>
  Array.from({ length: count }, (_, i) => ({
    id: `o-${userId}-${i}`,
    total: 1000 + i,
    status: 'PAID',
    product: { id: `p${((Number(userId.slice(1)) * 7 + i) % 40) + 1}` },
  }));

export const SUBGRAPHS = {
  users: {
    sdl: `${LINK}
      type User @key(fields: "id") { id: ID! name: String! email: String! bio: String }
      type Query { users(first: Int = 10): [User!]! user(id: ID!): User }
      type Mutation { rename(id: ID!, name: String!): User }`,
    resolvers: {
      Query: { users: (_, { first }) => users.slice(0, first), user: (_, { id }) => users.find((user) => user.id === id) },
      Mutation: { rename: (_, { id, name }) => ({ ...users.find((user) => user.id === id), name }) },
      User: { __resolveReference: ({ id }) => users.find((user) => user.id === id) },
    },
  },
  orders: {
    sdl: `${LINK}
      enum Status { PENDING PAID }
      type Order @key(fields: "id") { id: ID! total: Int! status: Status! product: Product! }
      type User @key(fields: "id") { id: ID! orders(first: Int = 3): [Order!]! }
      type Product @key(fields: "id", resolvable: false) { id: ID! }
      type Query { order(id: ID!): Order }`,
    resolvers: {
      User: { __resolveReference: (reference) => reference, orders: ({ id }, { first }) => ordersOf(id, first) },
    },
  },
  products: {
    sdl: `${LINK}
      type Product @key(fields: "id") { id: ID! name: String! price: Int! category: String }
      type Query { products(first: Int = 10): [Product!]! }`,
    resolvers: {
      Query: { products: (_, { first }) => products.slice(0, first) },
      Product: { __resolveReference: ({ id }) => products.find((product) => product.id === id) },
    },
  },
};

export function buildSchema(name, subgraphs = SUBGRAPHS) {
  const { sdl, resolvers } = subgraphs[name];
  return buildSubgraphSchema({ typeDefs: parse(sdl), resolvers });
}

/**
 * Composes the supergraph. `urls` maps the names of the subgraphs to their URLs. `head` takes the place of the link to Federation in each of them, and
 * `patch` returns the rest with other directives.
 */
export function compose(urls, { head = LINK, patch = (sdl) => sdl, subgraphs = SUBGRAPHS } = {}) {
  const { supergraphSdl, errors } = composeServices(
    Object.entries(subgraphs).map(([name, { sdl }]) => ({ name, url: urls[name], typeDefs: parse(head + patch(sdl.slice(LINK.length))) })),
  );
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}
