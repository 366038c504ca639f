/** What operations cost as far as a check knows. That literals cost what the gateway says is tested there: gateway/src/plan/cost/cost-estimates.test.ts. */
import { describe, expect, it } from '@jest/globals';
import { buildSchema, parse } from 'graphql';
import { type EstimateOptions, estimateCost, toCostSchemas } from './estimate-cost.ts';

const schema = buildSchema(`
  directive @cost(weight: String!) on FIELD_DEFINITION | OBJECT | ARGUMENT_DEFINITION | INPUT_FIELD_DEFINITION
  directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!]) on FIELD_DEFINITION
  type Query {
    users(first: Int): [User]
    preset(first: Int = 20): [User]
    assumed(count: Int): [User] @listSize(assumedSize: 7, slicingArguments: ["count"])
    paged(page: Paging): Page
    find(by: Filter, words: [String] @cost(weight: "2"), deep: Boolean @cost(weight: "5")): User
    node: Node
  }
  input Paging { limit: Int = 4 }
  input Filter { text: String @cost(weight: "10") }
  type Page { items: [User] }
  interface Node { id: ID }
  type User implements Node { id: ID friends(first: Int): [User] slow: Int @cost(weight: "3") }
  type Mutation { rename: User }
`);
const estimate = (source: string, options?: EstimateOptions) => estimateCost({ schema, supergraph: schema }, parse(source), options);

describe('toCostSchemas', () => {
  it.each(['@cost(weight: "7")', '@federation__cost(weight: "7")', '@_1__cost(weight: 7)'])('reads %s in a supergraph', (directive) => {
    const sdl = (given: string) => `type Query { a: Int ${given} }`;
    expect(estimateCost(toCostSchemas(sdl(''), sdl(directive)), parse('{ a }'))).toBe(7);
    expect(estimateCost(toCostSchemas(buildSchema(sdl('')), sdl('@costly(weight: "7")')), parse('{ a }'))).toBe(0);
  });
});

describe('estimateCost', () => {
  it.each([
    ['the default of the variable', 'query ($n: Int = 3) { users(first: $n) { id } }', 3],
    ['the default of the variable before that of the argument', 'query ($n: Int = 3) { preset(first: $n) { id } }', 3],
    ['the default of the argument', 'query ($n: Int) { preset(first: $n) { id } }', 20],
    ['assumedSize', 'query ($n: Int!) { assumed(count: $n) { id } }', 7],
    ['10', 'query ($n: Int) { users(first: $n) { id } }', 10],
    ['10 for a negative default', 'query ($n: Int = -1) { users(first: $n) { id } }', 10],
    ['a variable within an object', 'query ($n: Int = 2) { paged(page: { limit: $n }) { items { id } } }', 1 + 1 + 2],
    ['an object as default', 'query ($page: Paging = { limit: 6 }) { paged(page: $page) { items { id } } }', 1 + 1 + 6],
    ['the default of an input field', 'query ($page: Paging) { paged(page: $page) { items { id } } }', 1 + 1 + 4],
  ])('takes for a list that a variable slices %s', (_, source, cost) => {
    expect(estimate(source)).toBe(cost);
  });

  it('counts what a variable gives as one value, and its default as it is', () => {
    expect(estimate('query ($by: Filter, $words: [String], $deep: Boolean) { find(by: $by, words: $words, deep: $deep) { id } }')).toBe(1 + 1 + 2 + 5); // prettier-ignore
    expect(estimate('query ($by: Filter = { text: "" }, $words: [String] = ["a", "b"]) { find(by: $by, words: $words) { id } }')).toBe(1 + 11 + 4); // prettier-ignore
    expect(estimate('query ($deep: Boolean = null) { find(deep: $deep) { id } }')).toBe(1);
  });

  it('counts fields with conditions that depend on variables, and not those that literals leave out', () => {
    expect(estimate('query ($a: Boolean!) { users @include(if: $a) { id } preset @skip(if: true) { id } }')).toBe(10);
  });

  it('takes 0 and an empty list in normalised documents for unknown', () => {
    const source = '{ users(first: 0) { id } preset(first: 0) { id } find(words: []) { id } }';
    expect(estimate(source)).toBe(1);
    expect(estimate(source, { isNormalised: true })).toBe(10 + 20 + 1 + 2);
  });

  it('takes the highest of several operations, and 10 for a mutation besides', () => {
    expect(estimate('query A { users { id } } mutation B { rename { id } } query C { node { id } }')).toBe(11);
  });

  it.each([
    ['an unknown field', '{ nothing }'],
    ['an unknown type', '{ node { ... on Nobody { id } } }'],
    ['an unknown fragment', '{ ...f }'],
    ['no operation', 'fragment f on Query { node { id } }'],
    ['no root type', 'subscription { a }'],
    ['too many fragments in fragments', `{ users { ${'... { '.repeat(200)} id ${'}'.repeat(200)} } }`],
    ['a fragment that contains itself', '{ users { ...f } } fragment f on User { friends { ...f } }'],
  ])('does not estimate a document with %s', (_, source) => {
    expect(estimate(source)).toBeUndefined();
  });

  it('enters a fragment once for an object', () => {
    expect(estimate('{ users { ...f ...f } } fragment f on User { slow ...f }')).toBe(10 * (1 + 3));
  });

  it('looks at no more fields than the budget has, and at each selection set once', () => {
    const nested = `{ users { ...f30 } } ${Array.from({ length: 31 }, (_, i) => `fragment f${String(i)} on User { id a: friends(first: 1) { ${i === 0 ? 'id' : `...f${String(i - 1)}`} } b: friends(first: 1) { ${i === 0 ? 'id' : `...f${String(i - 1)}`} } }`).join(' ')}`;
    const budget = { fields: 1000 };
    expect(estimate(nested, { budget })).toBeGreaterThan(2 ** 31);
    expect(budget.fields).toBeGreaterThan(500);
    expect(estimate(nested, { budget: { fields: 50 } })).toBeUndefined();
  });
});
