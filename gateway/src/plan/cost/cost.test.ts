import { describe, expect, it } from '@jest/globals';
import { type GraphQLObjectType, Kind, type OperationDefinitionNode, buildSchema, parse } from 'graphql';
import { generateActualCost, generateCost } from './cost.ts';
import { createSelections } from '../selections/selection.ts';

const schema = buildSchema(`
  directive @cost(weight: String!) on FIELD_DEFINITION | OBJECT | SCALAR | ENUM | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
  directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!]) on FIELD_DEFINITION
  type Query {
    users(first: Int = 20, names: [String!]): [User!]!
    page(first: Int, last: Int): Page
    paged(page: Paging): [User]
    assumed: [User] @listSize(assumedSize: 5)
    sliced(count: Int, other: Int): [User] @listSize(assumedSize: 7, slicingArguments: ["count", "other"])
    connection(limit: Int): Cursor @listSize(assumedSize: 4, slicingArguments: ["limit"], sizedFields: ["rows", "other"])
    preset(count: Int = 30, page: Paging): [User] @listSize(assumedSize: 7, slicingArguments: ["count", "page.limit"])
    cursor(limit: Int): Cursor @listSize(slicingArguments: ["limit"], sizedFields: ["rows"])
    all: [User]
    slow: Int @cost(weight: "4")
    any: [Any]
    find(by: Filter, all: [Filter!], deep: Boolean @cost(weight: "5"), words: [String!] @cost(weight: "2"), order: Order, json: Json, names: [String!]): [User]
    weighed(by: Filter! @cost(weight: "7")): Int
  }
  input Paging { limit: Int = 7 page: Int }
  enum Order @cost(weight: "3") { UP DOWN }
  scalar Json @cost(weight: "4")
  input Filter { text: String @cost(weight: "10"), age: Int, and: [Filter!], not: Filter, constructor: Int @cost(weight: "6") }
  type Mutation { rename: User }
  type Page { edges: [Edge] totalCount: Int }
  type Edge { node: User }
  type Cursor { rows: [User] other: [User] }
  type User { id: ID friends(first: Int): [User] photo: Photo }
  type Photo @cost(weight: "3") { url: String }
  union Any = User | Photo
`);

function prepare(source: string) {
  const document = parse(source);
  const operation = document.definitions[0] as OperationDefinitionNode;
  const root = schema.getRootType(operation.operation) as GraphQLObjectType;
  const fragments = new Map(
    document.definitions.flatMap((each) => (each.kind === Kind.FRAGMENT_DEFINITION ? [[each.name.value, each] as const] : [])),
  );
  return {
    schema,
    supergraph: schema,
    root,
    sets: [{ set: operation.selectionSet, when: [] }],
    selections: createSelections(schema, fragments),
  };
}
// eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call -- the code under test is generated
const evaluate = (code: string) => new Function(`return ${code}`)() as (input: object, variables?: object) => number;
const estimate = (source: string, variables: object = {}) => evaluate(generateCost({ ...prepare(source), introspection: 0 }))(variables);
const count = (source: string, data: object, variables: object = {}) => evaluate(generateActualCost(prepare(source)))(data, variables);

describe('the estimated cost', () => {
  it.each([
    ['{ users(first: 3) { id } }', 3],
    ['{ paged { id } }', 7],
    // 1 for the input object.
    ['{ paged(page: { limit: 60 }) { id } }', 60 + 1],
    ['{ paged(page: { page: 2 }) { id } }', 7 + 1],
    ['{ users { id } }', 20],
    ['{ users(first: 3) { friends(first: 2) { id } } }', 3 + 3 * 2],
    ['{ page(first: 4) { edges { node { id } } totalCount } }', 1 + 4 * 2],
    ['{ page { edges { node { id } } } }', 1 + 10 * 2],
    ['{ assumed { photo { url } } }', 5 * (1 + 3)],
    ['{ sliced(count: 2, other: 3) { id } }', 3],
    ['{ sliced { id } }', 7],
    // The default of a slicing argument precedes what is assumed.
    ['{ preset { id } }', 30],
    ['{ preset(count: 2) { id } }', 2],
    ['{ preset(count: 2, page: {limit: 4}) { id } }', 4 + 1],
    ['{ cursor(limit: 6) { rows { id } other { id } } }', 1 + 6 + 10],
    ['{ all { id } }', 10],
    ['{ slow a: slow }', 8],
    ['mutation { rename { id } }', 11],
    ['{ any { ... on User { friends(first: 2) { id } } ... on Photo { url } } }', 10 * 3],
    // Of an abstract type, the weight of the type belongs to what is selected of it.
    ['{ any { __typename } }', 10 * 3],
    ['{ any { ... on User { id friends(first: 1) { id } } } }', 10 * 3],
    ['{ any { ... on User { friends(first: 3) { id } } } }', 10 * (1 + 3)],
    ['{ users(first: 2) { ...f } } fragment f on User { friends(first: 2) { id } }', 2 + 2 * 2],
    ['{ __schema { types { name } } }', 0],
  ])('of %s is %d', (source, cost) => {
    expect(estimate(source)).toBe(cost);
  });

  it('follows the variables, and takes what is no size for what is assumed', () => {
    const source = 'query($n: Int, $m: Int) { users(first: $n) { friends(first: $m) { id } } }';
    expect(estimate(source, { n: 3, m: 4 })).toBe(3 * (1 + 4));
    expect(estimate(source, { n: 3 })).toBe(3 * (1 + 10));
    expect(estimate(source, { n: -5, m: 0 })).toBe(20);
  });
});

describe('@listSize in the estimated cost', () => {
  const variables = 'query ($n: Int, $m: Int) { sliced(count: $n, other: $m) { id } }';

  it.each([
    ['{ sliced(count: 2, other: 3) { id } }', {}, 3],
    ['{ sliced(count: 0) { id } }', {}, 0],
    ['{ sliced(count: null, other: 3) { id } }', {}, 3],
    ['{ sliced(count: -5, other: 3) { id } }', {}, 3],
    ['{ preset(page: { limit: 4 }) { id } }', {}, 4 + 1],
    [variables, { n: 2, m: 3 }, 3],
    [variables, { n: null, m: 3 }, 3],
    [variables, { n: -5, m: 3 }, 3],
    ['query ($n: Int) { sliced(count: $n, other: 4) { id } }', { n: 2 }, 4],
    ['query ($n: Int) { sliced(count: $n, other: 4) { id } }', { n: 9 }, 9],
  ])('takes the largest of slicingArguments that is set: %s with %j', (source, given, cost) => {
    expect(estimate(source, given)).toBe(cost);
  });

  it.each([
    ['{ assumed { id } }', {}, 5],
    ['{ sliced { id } }', {}, 7],
    ['{ sliced(count: null, other: -1) { id } }', {}, 7],
    [variables, { n: null, m: -1 }, 7],
    ['{ connection { rows { id } } }', {}, 1 + 4],
  ])('takes assumedSize when no slicing argument is set: %s with %j', (source, given, cost) => {
    expect(estimate(source, given)).toBe(cost);
  });

  it('takes the largest default of slicingArguments before assumedSize', () => {
    expect(estimate('{ preset { id } }')).toBe(30);
    expect(estimate('{ preset(count: null) { id } }')).toBe(30);
  });

  it('gives the size to each of sizedFields, and to no other list of the connection', () => {
    expect(estimate('{ connection(limit: 6) { rows { id } } }')).toBe(1 + 6);
    expect(estimate('{ connection(limit: 6) { rows { id } other { id } } }')).toBe(1 + 6 + 6);
    expect(estimate('{ cursor(limit: 6) { other { id } } }')).toBe(1 + 10);
  });
});

it('the actual cost counts what is there, by the same weights', () => {
  const source = '{ users { photo { url } friends { id } } slow any { ... on Photo { url } ... on User { photo { url } } } }';
  const data = {
    users: [
      { photo: { url: '' }, friends: [{}, null, {}] },
      { photo: null, friends: null },
    ],
    slow: 1,
    any: [{ __typename: 'Photo' }, { __typename: 'User', photo: { url: '' } }, null],
  };
  expect(count(source, data)).toBe(2 + 3 + 2 + 4 + 3 + (1 + 3));
  expect(count('mutation { rename { id } }', { rename: null })).toBe(10);
});

it('counts no field that a condition excludes, though the data have it for another subgraph', () => {
  const source =
    'query($a: Boolean!) { slow @skip(if: $a) page(first: 1) @include(if: $a) { edges @skip(if: $a) { node { id } } totalCount } }';
  const data = { slow: 1, page: { edges: [{ node: { id: '1' } }], totalCount: 1 } };
  expect(count(source, data, { a: true })).toBe(1);
  expect(count(source, data, { a: false })).toBe(4);
});

describe('what is given to a field', () => {
  const users = 10;
  it.each([
    ['{ find { id } }', 0],
    ['{ find(names: ["a"], by: null, all: []) { id } }', 0],
    ['{ find(deep: false) { id } }', 5],
    ['{ find(words: ["a", "b"]) { id } }', 2 * 2],
    ['{ find(order: UP, json: [1, 2]) { id } }', 3 + 4],
    ['{ find(by: {}) { id } }', 1],
    ['{ find(by: { text: "a", age: 1 }) { id } }', 1 + 10],
    ['{ find(by: { and: [{ text: "a" }, { not: { constructor: 1 } }] }) { id } }', 1 + (1 + 10) + (1 + (1 + 6))],
    ['{ find(all: [{ text: "a" }, {}]) { id } }', 1 + 10 + 1],
    ['{ find(all: { text: "a" }) { id } }', 1 + 10],
  ])('%s costs %d more, once', (source, cost) => {
    expect(estimate(source)).toBe(cost + users);
    expect(count(source, { find: [{}, {}] })).toBe(cost + 2);
    expect(count(source, { find: null })).toBe(cost);
    expect(count(source, {})).toBe(0);
  });

  const open = `query($by: Filter, $all: [Filter!], $deep: Boolean, $words: [String!], $order: Order, $text: String) {
    find(by: $by, all: $all, deep: $deep, words: $words, order: $order) { id } weighed(by: { text: $text }) }`;
  it.each([
    [{}, 7],
    [{ by: null, all: [], deep: null, text: null }, 7],
    [{ deep: true, words: ['a', 'b', 'c'], order: 'UP' }, 7 + 5 + 3 * 2 + 3],
    [{ words: 'a', text: 'a' }, 7 + 2 + 10],
    [{ by: { text: 'a', and: [{ age: 1 }, { not: { text: 'b', constructor: 1 } }] } }, 7 + 1 + 10 + 1 + (1 + (1 + 10 + 6))],
    [{ all: [{ text: 'a' }, { text: null }] }, 7 + (1 + 10) + 1],
    // Variables are not validated yet when costs are estimated.
    [{ by: 7, all: 'a' }, 7 + 1 + 1],
  ])('by variables %j costs %d', (variables, cost) => {
    expect(estimate(open, variables)).toBe(cost + users);
    expect(count(open, { find: [{}], weighed: 1 }, variables)).toBe(cost + 1);
  });

  it('counts again for each object that it is asked of', () => {
    expect(estimate('{ a: find(deep: true) { id } b: find(deep: true) { id } }')).toBe(2 * (5 + users));
  });
});
