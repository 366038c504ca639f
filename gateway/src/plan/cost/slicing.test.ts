import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import { requireOneSlicingArgument } from '../../limits/require-slicing.ts';
import { createOperationReader } from '../operation/read-operation.ts';
import { createFindSliced } from './slicing.ts';

const schema = buildSchema(`
  directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION
  type Query {
    users(first: Int, last: Int): [User] @listSize(slicingArguments: ["first", "last"])
    one(first: Int): [User] @listSize(slicingArguments: ["first"], requireOneSlicingArgument: true)
    preset(first: Int = 10, last: Int): [User] @listSize(slicingArguments: ["first", "last"])
    free(first: Int, last: Int): [User] @listSize(slicingArguments: ["first", "last"], requireOneSlicingArgument: false)
    assumed(first: Int): [User] @listSize(assumedSize: 5)
    paged(page: Paging, after: Cursor): [User] @listSize(slicingArguments: ["page.limit", "after.page.limit"])
    node: Node
    any: Any
  }
  input Paging { limit: Int }
  input Cursor { page: Paging }
  type User { id: ID friends(first: Int): [User] @listSize(slicingArguments: ["first"]) }
  interface Node { list(first: Int): [User] }
  type A implements Node { list(first: Int): [User] @listSize(slicingArguments: ["first"]) }
  type B implements Node { list(first: Int): [User] }
  union Any = A | B | User
`);
const read = createOperationReader({
  schema,
  limits: DEFAULT_LIMITS,
  findProtection: () => undefined,
  renameAliases: (document) => document,
});
const find = createFindSliced(schema, schema);
const sliced = (query: string) => find(read({ query, operationName: undefined }, Infinity).expanded);
const check = (query: string, variables: Readonly<Record<string, unknown>> = {}) => {
  try {
    requireOneSlicingArgument(sliced(query), variables);
    return 'allowed';
  } catch (error) {
    return (error as Error).message;
  }
};

describe('@listSize(requireOneSlicingArgument)', () => {
  it.each([
    '{ users(first: 1) { id } }',
    '{ users(last: 1) { id } }',
    '{ users(first: 1, last: null) { id } }',
    '{ one(first: 0) { id } }',
    '{ preset { id } }',
    '{ preset(last: 3) { id } }',
    '{ free { id } }',
    '{ free(first: 1, last: 2) { id } }',
    '{ assumed { id } }',
    '{ paged(page: { limit: 4 }) { id } }',
    '{ paged(page: {}, after: { page: { limit: 4 } }) { id } }',
    '{ users @skip(if: true) { id } }',
    '{ any { ... on B { list { id } } } }',
    '{ node { ... on B { list { id } } } }',
  ])('allows %s, which needs no check of requests', (query) => {
    expect(sliced(query)).toEqual([]);
  });

  it.each([
    ['{ users { id } }', 'Field `Query.users` requires exactly one of the arguments `first`, `last`; none is set.'],
    ['{ users(first: null) { id } }', 'Field `Query.users` requires exactly one of the arguments `first`, `last`; none is set.'],
    [
      '{ users(first: 1, last: 2) { id } }',
      'Field `Query.users` requires exactly one of the arguments `first`, `last`; 2 are set: `first`, `last`.',
    ],
    [
      '{ preset(first: 1, last: 2) { id } }',
      'Field `Query.preset` requires exactly one of the arguments `first`, `last`; 2 are set: `first`, `last`.',
    ],
    ['{ one { id } }', 'Field `Query.one` requires the argument `first`, by which its size is known; it is not set.'],
    ['{ paged(page: {}) { id } }', expect.stringContaining('`Query.paged` requires exactly one of the arguments `page.limit`')],
    ['{ users(first: 1) { friends { id } } }', expect.stringContaining('`User.friends`')],
    ['{ a: users(first: 1) { id } b: users { id } }', expect.stringContaining('`Query.users`')],
    ['{ ...F } fragment F on Query { ... { users { id } } }', expect.stringContaining('`Query.users`')],
    ['{ node { list { id } } }', expect.stringContaining('`A.list`')],
    ['{ any { ... on A { list { id } } } }', expect.stringContaining('`A.list`')],
  ])('refuses %s', (query, message) => {
    expect(check(query)).toEqual(message);
  });

  it.each([
    [{ n: 1 }, 'allowed'],
    [{ m: 1 }, 'allowed'],
    [{ n: 1, m: null }, 'allowed'],
    [{}, expect.stringContaining('none is set')],
    [{ n: 1, m: 1 }, expect.stringContaining('2 are set')],
  ])('counts the variables %j', (variables, expected) => {
    expect(check('query ($n: Int, $m: Int) { users(first: $n, last: $m) { id } }', variables)).toEqual(expected);
  });

  it('looks into variables that are input objects', () => {
    const query = 'query ($p: Paging, $c: Cursor) { paged(page: $p, after: $c) { id } }';
    expect(check(query, { p: { limit: 3 } })).toBe('allowed');
    expect(check(query, { c: { page: { limit: 3 } }, p: {} })).toBe('allowed');
    expect(check(query, { p: { limit: null }, c: { page: null } })).toContain('none is set');
    expect(check(query, { p: { limit: 1 }, c: { page: { limit: 1 } } })).toContain('2 are set');
  });

  it('leaves out what @skip and @include leave out', () => {
    const query = 'query ($a: Boolean!, $n: Int) { ... @include(if: $a) { users(first: $n) { id } } }';
    expect(check(query, { a: false })).toBe('allowed');
    expect(check(query, { a: true })).toContain('none is set');
    expect(check(query, { a: true, n: 1 })).toBe('allowed');
  });

  it('says where the field is', () => {
    expect(sliced('{\n  users { id }\n}')[0]?.location).toEqual({ line: 2, column: 3 });
  });
});
