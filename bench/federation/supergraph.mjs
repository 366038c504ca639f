/**
 * The schema, data and operation of the public federation benchmark (github.com/graphql-hive/graphql-gateways-benchmark), written anew: the same
 * types, numbers of objects, references and lengths of texts, so that responses have about the same size.
 */
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { buildSchema as buildPlainSchema, execute, parse } from 'graphql';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@external", "@requires", "@provides", "@shareable"])';
const WORDS = 'a table of oak that seats six and folds when nobody is there with legs which never wobble on old stone floors'.split(' ');

/** Returns a text with exactly so many characters. */
function textOf(length, seed) {
  let text = '';
  for (let i = seed; text.length < length; i++) text += `${WORDS[(i * 7) % WORDS.length]} `;
  return text.slice(0, length);
}

const users = ['ada', 'bob', 'cleo', 'dan', 'eve', 'finn'].map((username, i) => ({
  id: String(i + 1),
  username,
  name: `${username[0].toUpperCase()}${username.slice(1)} Example`,
  birthday: 1985 + i,
}));
const products = [
  ['Table', 899, 100, true],
  ['Couch', 1299, 1000, false],
  ['Glass', 15, 20, false],
  ['Chair', 499, 100, false],
  ['Radio', 1299, 1000, true],
  ['Lamp', 6999, 300, true],
  ['Grill', 3999, 2000, true],
  ['Fridge', 100000, 6000, false],
  ['Sofa', 9999, 800, true],
].map(([name, price, weight, inStock], i) => ({ upc: String(i + 1), name, price, weight, inStock }));
/** Each review: the product, and the length of its body. */
const reviews = [
  ['1', 445],
  ['1', 290],
  ['1', 275],
  ['1', 145],
  ['2', 445],
  ['2', 290],
  ['2', 275],
  ['2', 145],
  ['3', 145],
  ['4', 145],
  ['4', 835],
].map(([upc, length], i) => ({ id: String(i + 1), body: textOf(length, i), upc }));

const productOf = ({ upc }) => products.find((product) => product.upc === upc);
const userOf = ({ id }) => users.find((user) => user.id === id);
/** Every review is by the first user, and every user has the first two. */
const reviewsOfUser = () => reviews.slice(0, 2);
const reviewsOfProduct = ({ upc }) => reviews.filter((review) => review.upc === upc);
const estimate = ({ price, weight }) => (price > 1000 ? 0 : Math.floor(weight / 2));

/** `firstSdl` is the schema for gateways that know Federation 1 only. */
export const SUBGRAPHS = {
  accounts: {
    sdl: `${LINK}
      type Query { me: User user(id: ID!): User users: [User] }
      type User @key(fields: "id") { id: ID! name: String username: String @shareable birthday: Int }`,
    firstSdl: `extend type Query { me: User user(id: ID!): User users: [User] }
      type User @key(fields: "id") { id: ID! name: String username: String birthday: Int }`,
    resolvers: {
      Query: { me: () => users[0], user: (_, key) => userOf(key), users: () => users },
      User: { __resolveReference: userOf },
    },
  },
  inventory: {
    sdl: `${LINK}
      type Product @key(fields: "upc") {
        upc: String! weight: Int @external price: Int @external inStock: Boolean shippingEstimate: Int @requires(fields: "price weight")
      }`,
    firstSdl: `extend type Product @key(fields: "upc") {
        upc: String! @external weight: Int @external price: Int @external inStock: Boolean shippingEstimate: Int @requires(fields: "price weight")
      }`,
    resolvers: {
      Product: {
        __resolveReference: (reference) => ({ ...reference, inStock: productOf(reference).inStock }),
        shippingEstimate: (product) => (product.price === undefined || product.weight === undefined ? null : estimate(product)),
      },
    },
  },
  products: {
    sdl: `${LINK}
      type Query { topProducts(first: Int = 5): [Product] }
      type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }`,
    firstSdl: `extend type Query { topProducts(first: Int = 5): [Product] }
      type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }`,
    resolvers: { Query: { topProducts: (_, { first }) => products.slice(0, first) }, Product: { __resolveReference: productOf } },
  },
  reviews: {
    sdl: `${LINK}
      type Review @key(fields: "id") { id: ID! body: String author: User @provides(fields: "username") product: Product }
      type User @key(fields: "id") { id: ID! username: String @external reviews: [Review] }
      type Product @key(fields: "upc") { upc: String! reviews: [Review] }`,
    firstSdl: `type Review @key(fields: "id") { id: ID! body: String author: User @provides(fields: "username") product: Product }
      extend type User @key(fields: "id") { id: ID! @external username: String @external reviews: [Review] }
      extend type Product @key(fields: "upc") { upc: String! @external reviews: [Review] }`,
    resolvers: {
      Review: {
        __resolveReference: ({ id }) => reviews.find((review) => review.id === id),
        author: () => ({ id: users[0].id, username: users[0].username }),
        product: ({ upc }) => ({ upc }),
      },
      User: { __resolveReference: (reference) => reference, reviews: reviewsOfUser },
      Product: { __resolveReference: (reference) => reference, reviews: reviewsOfProduct },
    },
  },
};

const USER = 'id username name';
const REVIEW = 'id body';
const PRODUCT = 'inStock name price shippingEstimate upc weight';
const REVIEWED = `reviews { ${REVIEW} product { ${PRODUCT} } }`;
const BY_AUTHOR = `reviews { ${REVIEW} author { ${USER} ${REVIEWED} } }`;
/** Users, their reviews, the products with their reviews, and the top products, down to six levels. */
export const QUERY = `query TestQuery { users { ${USER} reviews { ${REVIEW} product { ${PRODUCT} ${BY_AUTHOR} } } } topProducts { ${PRODUCT} ${BY_AUTHOR} } }`;

export function buildSchema(name) {
  const { sdl, resolvers } = SUBGRAPHS[name];
  return buildSubgraphSchema({ typeDefs: parse(sdl), resolvers });
}

/** Composes the supergraph. `urls` maps the names of the subgraphs to their URLs. */
export function compose(urls) {
  const { supergraphSdl, errors } = composeServices(
    Object.entries(SUBGRAPHS).map(([name, { sdl }]) => ({ name, url: urls[name], typeDefs: parse(sdl) })),
  );
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}

/** Returns the result of the query by graphql-js on one schema with the same data, without federation. */
export async function expectedResult() {
  const schema = buildPlainSchema(`
    type Query { users: [User] topProducts(first: Int = 5): [Product] }
    type User { id: ID! name: String username: String birthday: Int reviews: [Review] }
    type Review { id: ID! body: String author: User product: Product }
    type Product { upc: String! name: String price: Int weight: Int inStock: Boolean shippingEstimate: Int reviews: [Review] }`);
  const toUser = (user) => ({ ...user, reviews: () => reviewsOfUser().map(toReview) });
  const toReview = (review) => ({ ...review, author: () => toUser(users[0]), product: () => toProduct(productOf(review)) });
  const toProduct = (product) => ({
    ...product,
    shippingEstimate: estimate(product),
    reviews: () => reviewsOfProduct(product).map(toReview),
  });
  const rootValue = { users: () => users.map(toUser), topProducts: ({ first }) => products.slice(0, first).map(toProduct) };
  return JSON.parse(JSON.stringify(await execute({ schema, document: parse(QUERY), rootValue })));
}
