/** The three subgraphs of `supergraph.mjs`, and those of the scenes of `more-scenes.mjs`: abstract types, JSON with spaces, and fields that fail. */
import * as base from './supergraph.mjs';

const feed = Array.from({ length: 60 }, (_, i) => {
  const item = { id: `f${i + 1}`, author: { __typename: 'User', id: `u${(i % 30) + 1}` } };
  if (i % 3 === 0)
    return { ...item, __typename: 'Photo', url: `https://images.example.org/${i + 1}.jpg`, width: 800 + i, caption: 'At the lake' };
  if (i % 3 === 1) return { ...item, __typename: 'Article', title: `Article number ${i + 1}`, words: 100 + i, summary: 'About boats' };
  return { ...item, __typename: 'Link', target: `https://example.org/${i + 1}`, title: `Link number ${i + 1}` };
});
const parcels = Array.from({ length: 60 }, (_, i) => ({
  id: `q${i + 1}`,
  label: `Parcel number ${i + 1}`,
  grams: 500 + i,
  isFragile: i % 7 === 0,
  product: { id: `p${(i % 40) + 1}` },
}));
/** Of the users of one response, each twentieth has a field that fails. */
const FAILING = 20;

export const SUBGRAPHS = {
  ...base.SUBGRAPHS,
  feed: {
    sdl: `${base.LINK}
      interface Item { id: ID! author: User! }
      type Photo implements Item { id: ID! author: User! url: String! width: Int! caption: String }
      type Article implements Item { id: ID! author: User! title: String! words: Int! summary: String }
      type Link implements Item { id: ID! author: User! title: String! target: String! }
      union Entry = Photo | Article | Link
      type User @key(fields: "id", resolvable: false) { id: ID! }
      type Query { feed(first: Int = 10): [Item!]! entries(first: Int = 10): [Entry!]! }`,
    resolvers: {
      Query: { feed: (_, { first }) => feed.slice(0, first), entries: (_, { first }) => feed.slice(0, first) },
    },
  },
  parcels: {
    hasSpaces: true,
    sdl: `${base.LINK}
      type Parcel @key(fields: "id") { id: ID! label: String! grams: Int! isFragile: Boolean! product: Product! }
      type Product @key(fields: "id", resolvable: false) { id: ID! }
      type Query { parcels(first: Int = 10): [Parcel!]! }`,
    resolvers: { Query: { parcels: (_, { first }) => parcels.slice(0, first) } },
  },
  ratings: {
    sdl: `${base.LINK}
      type User @key(fields: "id") { id: ID! rating: Int reviews: Int! }`,
    resolvers: {
      User: {
        __resolveReference: (reference) => reference,
        rating: ({ id }) => {
          if (Number(id.slice(1)) % FAILING === 0) throw new Error('The rating could not be read.');
          return Number(id.slice(1)) % 5;
        },
        reviews: ({ id }) => Number(id.slice(1)),
      },
    },
  },
};

export function buildSchema(name) {
  return base.buildSchema(name, SUBGRAPHS);
}

export function compose(urls) {
  return base.compose(urls, { subgraphs: SUBGRAPHS });
}
