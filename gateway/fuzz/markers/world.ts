/** A supergraph of three subgraphs whose strings all contain the request's marker, and the operations that clients send. */
import { composeServices } from '@apollo/composition';
import { type DocumentNode, type ExecutionResult, type GraphQLSchema, buildSchema, execute, parse } from 'graphql';
import { hash } from '../random.ts';
import { SAMPLE, findMarker } from './marker.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])\n';

/** The subgraphs by their names. */
export const SUBGRAPHS: Readonly<Record<string, string>> = {
  catalog: `${LINK} type Query { items(tag: String!, n: Int!): [Item!]! things(tag: String!, n: Int!): [Thing!]! }
    type Mutation { mark(tag: String!, n: Int!): Item! }
    type Item @key(fields: "id") { id: ID! text: String! size: Int! } union Thing = Item | Note type Note { text: String! item: Item! }`,
  reviews: `${LINK} type Item @key(fields: "id") { id: ID! reviews: [Review!]! rating: Float }
    type Review { text: String! product: Product! } type Product @key(fields: "id", resolvable: false) { id: ID! }`,
  products: `${LINK} type Product @key(fields: "id") { id: ID! title: String! kind: Kind } enum Kind { SMALL LARGE }`,
};

const WHOLE = buildSchema(`type Query { items(tag: String!, n: Int!): [Item!]! things(tag: String!, n: Int!): [Thing!]! }
  type Mutation { mark(tag: String!, n: Int!): Item! }
  type Item { id: ID! text: String! size: Int! reviews: [Review!]! rating: Float } union Thing = Item | Note type Note { text: String! item: Item! }
  type Review { text: String! product: Product! } type Product { id: ID! title: String! kind: Kind } enum Kind { SMALL LARGE }`);

/** An operation that clients send, with a share of all requests. */
export interface MarkedOperation {
  readonly name: string;
  readonly query: string;
  /** Beside the marker. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly share: number;
}

const ITEMS = 'query Items($tag: String!, $n: Int!) { items(tag: $tag, n: $n) { id text size } }';
const JOINED =
  'query Joined($tag: String!, $n: Int!) { items(tag: $tag, n: $n) { id text reviews { text product { id title kind } } rating } }';

export const OPERATIONS: readonly MarkedOperation[] = [
  { name: 'items', query: ITEMS, variables: { n: 10 }, share: 0.2 },
  { name: 'many items', query: ITEMS, variables: { n: 500 }, share: 0.04 },
  { name: 'joined', query: JOINED, variables: { n: 5 }, share: 0.25 },
  { name: 'many joined', query: JOINED, variables: { n: 100 }, share: 0.1 },
  { name: 'large', query: JOINED, variables: { n: 3000 }, share: 0.003 },
  { name: 'very large', query: ITEMS, variables: { n: 30_000 }, share: 0.001 },
  {
    name: 'abstract',
    query:
      'query Abstract($tag: String!, $n: Int!) { things(tag: $tag, n: $n) { __typename ... on Item { id text rating } ... on Note { text item { text rating } } } }',
    variables: { n: 12 },
    share: 0.1,
  },
  ...[true, false].map((a) => ({
    name: `conditions ${String(a)}`,
    query:
      'query Conditions($tag: String!, $n: Int!, $a: Boolean!) { items(tag: $tag, n: $n) { id text @include(if: $a) rating @skip(if: $a) reviews @include(if: $a) { text } } }',
    variables: { n: 6, a },
    share: 0.06,
  })),
  {
    name: 'twice',
    query:
      'query Twice($tag: String!, $n: Int!) { a: items(tag: $tag, n: $n) { reviews { product { title } } } b: items(tag: $tag, n: $n) { text rating } }',
    variables: { n: 8 },
    share: 0.06,
  },
  {
    name: 'mutation',
    query: 'mutation Mark($tag: String!, $n: Int!) { mark(tag: $tag, n: $n) { id text reviews { text product { title } } } }',
    variables: { n: 3 },
    share: 0.12,
  },
];

/** Returns the supergraph of subgraphs at these addresses. */
export function composeWorld(urls: Readonly<Record<string, string>>): string {
  const services = Object.entries(SUBGRAPHS).map(([name, sdl]) => ({ name, url: urls[name] ?? '', typeDefs: parse(sdl) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors.map(({ message }) => message).join());
  return supergraphSdl;
}

/** Returns what graphql-js returns for an operation with the sample's marker, as JSON. */
export function answerOf({ query, variables }: Pick<MarkedOperation, 'query' | 'variables'>): string {
  const result = execute({ schema: WHOLE, document: parse(query), rootValue: ROOT, variableValues: { ...variables, tag: SAMPLE } });
  return JSON.stringify((result as ExecutionResult).data);
}

/** Returns what a subgraph returns. */
export async function answerSubgraph(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Record<string, unknown>,
): Promise<ExecutionResult> {
  return execute({ schema, document, rootValue: ROOT, variableValues: variables });
}

interface Rooted {
  readonly tag: string;
  readonly n: number;
}

const range = <T>(n: number, make: (i: number) => T): T[] => Array.from({ length: n }, (_, i) => make(i));
/** The values of an object follow from its id without the marker, so that one text serves all markers. */
const drawn = (id: string, salt: string) => hash(id.slice(SAMPLE.length) + salt);

const ROOT = {
  items: ({ tag, n }: Rooted) => range(n, (i) => itemOf(`${tag}.${i}`)),
  things: ({ tag, n }: Rooted) => range(n, (i) => (i % 3 === 1 ? noteOf(`${tag}.${i}`) : itemOf(`${tag}.${i}`))),
  mark: ({ tag, n }: Rooted) => itemOf(`${tag}.${n}`),
};

/** Returns the item with an id, in every subgraph. */
export function itemOf(id: string): object {
  const tag = findMarker(id) ?? '';
  const count = Math.floor(drawn(id, 'reviews') * 5);
  const rating = drawn(id, 'rating');
  return {
    __typename: 'Item',
    id,
    text: `${tag} item ${id}${rating < 0.1 ? ' "é\u2028"' : ''}`,
    size: Math.floor(drawn(id, 'size') * 1e6),
    reviews: () => range(count, (i) => reviewOf(`${id}.${i}`)),
    rating: rating < 0.2 ? null : rating,
  };
}

function noteOf(id: string): object {
  return { __typename: 'Note', text: `note ${id}`, item: () => itemOf(id) };
}

function reviewOf(id: string): object {
  const tag = findMarker(id) ?? '';
  return { text: `review ${id}`, product: productOf(`${tag}.p${Math.floor(drawn(id, 'product') * 9)}`) };
}

/** Returns the product with an id, in every subgraph. */
export function productOf(id: string): object {
  const kind = drawn(id, 'kind');
  return { __typename: 'Product', id, title: `title ${id}`, kind: kind < 0.2 ? null : kind < 0.6 ? 'SMALL' : 'LARGE' };
}
