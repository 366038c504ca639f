import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { toPlannedPolicy } from '../../program/cache-rule.ts';
import { NO_STORE, writeCachePolicy } from '../../request/cache-policy.ts';
import { DEFAULT_LIMITS } from '../../limits/limits.ts';
import { createFindCacheRule } from './cache-control.ts';
import { createFindFetchCaching } from './fetch-caching.ts';
import { createOperationReader } from '../operation/read-operation.ts';

const schema = buildSchema(`
  directive @cacheControl(maxAge: Int, scope: CacheControlScope, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
  enum CacheControlScope { PUBLIC PRIVATE }
  type Query {
    book: Book
    cover: Cover
    cachedBook: Book @cacheControl(maxAge: 60)
    shelf: Shelf @cacheControl(maxAge: 90)
    reader: Reader @cacheControl(maxAge: 90)
    mine: Reader @cacheControl(maxAge: 90, scope: PRIVATE)
    open: Reader @cacheControl(maxAge: 90, scope: PUBLIC)
    count: Int
    cachedCount: Int @cacheControl(maxAge: 5)
    inherited: Shelf @cacheControl(inheritMaxAge: true)
    any: Any @cacheControl(maxAge: 90)
    typedAny: Any
    item: Item @cacheControl(maxAge: 90)
    endless: Int @cacheControl(maxAge: 2147483647)
    negative: Int @cacheControl(maxAge: -1)
    none: Int @cacheControl(maxAge: null)
    text: Text @cacheControl(maxAge: 90)
  }
  type Mutation { write: Int @cacheControl(maxAge: 5) }
  type Book { title: String rating: Int @cacheControl(maxAge: 10) reader: Reader cover: Cover inherits: Shelf @cacheControl(inheritMaxAge: true) }
  type Cover @cacheControl(maxAge: 30) { url: String back: Cover shelf: Shelf }
  type Shelf @cacheControl(inheritMaxAge: true) { name: String shelf: Shelf cover: Cover }
  type Reader @cacheControl(scope: PRIVATE) { name: String note: String @cacheControl(maxAge: 7) }
  union Any @cacheControl(maxAge: 80) = Cover | Shelf | Book
  interface Text { body: String date: String }
  type Post implements Text { body: String date: String }
  type Diary implements Text { body: String @cacheControl(maxAge: 20, scope: PRIVATE) date: String @cacheControl(maxAge: 0) }
  interface Item { name: String @cacheControl(maxAge: 1) }
  type Pen implements Item { name: String @cacheControl(maxAge: 20) }
  type Cup implements Item { name: String handle: Int @cacheControl(maxAge: 3) }
`);
const LIMITS = { ...DEFAULT_LIMITS, maxAliases: 100 };
const read = createOperationReader({ schema, limits: LIMITS, findProtection: () => undefined, renameAliases: (document) => document });
const findRule = createFindCacheRule(schema, schema);

const toPolicy = (query: string, variables: Readonly<Record<string, unknown>> = {}) => {
  const policy = toPlannedPolicy(findRule(read({ query, operationName: undefined }, Infinity)), variables);
  return policy ? writeCachePolicy(policy) : 'no-store';
};

describe('@cacheControl', () => {
  it.each([
    ['a field of the root without a hint', '{ count }', 'no-store'],
    ['a scalar of the root with a hint', '{ cachedCount }', 'public, max-age=5'],
    ['an object without a hint', '{ book { title } }', 'no-store'],
    ['the type of a field', '{ cover { url } }', 'public, max-age=30'],
    ['a field, whose scalars inherit', '{ cachedBook { title } }', 'public, max-age=60'],
    ['the minimum of a field and a scalar', '{ cachedBook { rating } }', 'public, max-age=10'],
    ['the minimum of siblings', '{ cachedCount cachedBook { title } }', 'public, max-age=5'],
    ['a sibling that is not cached', '{ count cachedBook { title } }', 'no-store'],
    ['a nested object without a hint', '{ cachedBook { reader { name } } }', 'no-store'],
    ['a nested object with a hint', '{ cachedBook { cover { url } } }', 'public, max-age=30'],
    ['a nested field that inherits', '{ cachedBook { inherits { name } } }', 'public, max-age=60'],
    ['a nested type that inherits', '{ shelf { shelf { name } } }', 'public, max-age=90'],
    ['a type within one that inherits', '{ shelf { shelf { cover { url } } } }', 'public, max-age=30'],
    ['a field of the root that inherits', '{ inherited { name } }', 'no-store'],
    ['a private type', '{ reader { name } }', 'private, max-age=90'],
    ['a private field', '{ mine { name } }', 'private, max-age=90'],
    ['a public field of a private type', '{ open { note } }', 'public, max-age=7'],
    ['a private field beside public ones', '{ reader { name } cachedCount }', 'private, max-age=5'],
    ['an alias', '{ a: cachedBook { title } b: cachedBook { stars: rating } }', 'public, max-age=10'],
    ['the type name', '{ cachedBook { __typename } }', 'public, max-age=60'],
    ['the type name alone', '{ __typename }', 'no-store'],
    ['introspection', '{ cachedCount __schema { __typename } }', 'no-store'],
    ['a mutation', 'mutation { write }', 'no-store'],
    ['a year at most', '{ endless }', 'public, max-age=31536000'],
    ['a time below zero', '{ negative }', 'no-store'],
    ['null, which is no hint', '{ none }', 'no-store'],
  ])('obeys %s', (_, query, expected) => {
    expect(toPolicy(query)).toBe(expected);
  });

  it.each([
    ['a named fragment', '{ cachedBook { ...F } } fragment F on Book { cover { url } }', 'public, max-age=30'],
    ['an inline fragment', '{ cachedBook { ... { rating } } }', 'public, max-age=10'],
    [
      'a fragment in a fragment',
      '{ ...R } fragment R on Query { cachedBook { ...F } } fragment F on Book { rating }',
      'public, max-age=10',
    ],
    ['each type of a union', '{ any { ... on Shelf { cover { url } } ... on Book { title } } }', 'public, max-age=30'],
    ['a fragment on one type', '{ any { ... on Book { rating } } }', 'public, max-age=10'],
    ['the types of a union, where its own hint is longer', '{ typedAny { __typename } }', 'public, max-age=30'],
    ['the field of each type of an interface', '{ item { name } }', 'public, max-age=20'],
    ['a fragment on a type of an interface', '{ item { name ... on Cup { handle } } }', 'public, max-age=3'],
  ])('takes the minimum over %s', (_, query, expected) => {
    expect(toPolicy(query)).toBe(expected);
  });

  const CONDITIONAL = `query ($a: Boolean!, $b: Boolean!) {
    cachedBook { title rating @include(if: $a) ... @skip(if: $b) { cover { url @include(if: $a) back { shelf { name } } } } }
  }`;
  it.each([
    [false, true, 'public, max-age=60'],
    [true, true, 'public, max-age=10'],
    [false, false, 'public, max-age=30'],
    [true, false, 'public, max-age=10'],
  ])('counts what @include (%s) and @skip (%s) leave', (a, b, expected) => {
    expect(toPolicy(CONDITIONAL, { a, b })).toBe(expected);
  });

  it('looks at conditions within conditions, and at a field that is selected twice', () => {
    const nested = `query ($a: Boolean!, $b: Boolean!) { cachedBook { title } ... @include(if: $a) { cachedBook { rating @include(if: $b) } } }`;
    expect(toPolicy(nested, { a: true, b: true })).toBe('public, max-age=10');
    expect(toPolicy(nested, { a: true, b: false })).toBe('public, max-age=60');
    expect(toPolicy(nested, { a: false, b: true })).toBe('public, max-age=60');
    const twice = 'query ($a: Boolean!) { cachedBook { rating @include(if: $a) rating title } }';
    expect(toPolicy(twice, { a: false })).toBe('public, max-age=10');
    const off = '{ cachedBook { title rating @include(if: false) ... @skip(if: true) { reader { name } } } }';
    expect(toPolicy(off)).toBe('public, max-age=60');
  });

  it('does not cache what depends on more than 50 conditions', () => {
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${String(i)}: rating @include(if: $a)`).join(' ');
    expect(toPolicy(`query ($a: Boolean!) { cachedBook { title ${fields(20)} } }`, { a: false })).toBe('public, max-age=60');
    expect(toPolicy(`query ($a: Boolean!) { cachedBook { title ${fields(60)} } }`, { a: false })).toBe('no-store');
  });

  it('does not cache an operation with rules of access', () => {
    const found = read({ query: '{ cachedCount }', operationName: undefined }, Infinity);
    const plain = buildSchema('type Query { cachedCount: Int }');
    for (const find of [findRule, createFindCacheRule(plain, plain)])
      expect(toPlannedPolicy(find({ ...found, rules: [{ kind: 'authenticated' }] }), {})).toEqual(NO_STORE);
    expect(createFindCacheRule(plain, plain)(found)).toBeUndefined();
  });

  it('reads the directive under the namespace of its link, and takes an unknown scope for private', () => {
    const named = buildSchema(`directive @cacheControl__cacheControl(maxAge: Int, scope: S) on FIELD_DEFINITION
      enum S { PUBLIC OTHER } type Query { a: Int @cacheControl__cacheControl(maxAge: 4, scope: OTHER) }`);
    const found = createOperationReader({
      schema: named,
      limits: LIMITS,
      findProtection: () => undefined,
      renameAliases: (document) => document,
    })({ query: '{ a }', operationName: undefined }, Infinity);
    expect(toPlannedPolicy(createFindCacheRule(named, named)(found), {})).toEqual({ maxAge: 4, sharedMaxAge: 0, isPrivate: true });
  });
});

describe('@cacheControl of a single fetch', () => {
  const find = createFindFetchCaching(schema);
  const entities = (text: string) => `query($representations:[_Any!]!){_entities(representations:$representations){${text}}}`;

  it.each([
    ['fields with hints', '{ cachedCount cover { url } }', { maxAge: 5, needsHeader: false, types: ['Cover'] }],
    ['fields with and without hints', '{ cachedCount count }', { maxAge: 5, needsHeader: true, types: [] }],
    ['a field without a hint', '{ count }', { maxAge: undefined, needsHeader: true, types: [] }],
    ['the type of entities', entities('... on Cover { url }'), { maxAge: 30, needsHeader: false, types: ['Cover'] }],
    ['entities without a hint', entities('... on Book { title rating }'), { maxAge: 10, needsHeader: true, types: ['Book'] }],
    ['a private field', '{ mine { name } }', { maxAge: 90, needsHeader: false, isPrivate: true }],
    ['a field that is private in a type of an interface', '{ text { body } }', { maxAge: 20, needsHeader: false, isPrivate: true }],
    ['the field of an interface', '{ item { name } }', { maxAge: 1, needsHeader: false, isPrivate: false }],
  ])('has the time of %s, and whether the subgraph must allow it too', (_, operation, expected) => {
    expect(find(operation)).toMatchObject(expected);
  });

  it('forbids to keep what must not be cached, and the results of mutations', () => {
    expect([find('{ cachedCount negative }'), find('{ text { date } }'), find('mutation { write }')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
