import { describe, expect, it } from '@jest/globals';
import type { FieldFault } from '@trestle/schema/errors';
import fc from 'fast-check';
import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLScalarType,
  GraphQLString,
} from 'graphql';
import { readPaging, toWindow } from './paging.ts';
import { createParameters } from './parameters.ts';
import { readJson, readText } from './values.ts';

const Role = new GraphQLEnumType({ name: 'Role', values: { USER: {}, ADMIN: {} } });
const DateTime = new GraphQLScalarType({ name: 'DateTime' });

describe('a value in the query string', () => {
  it.each([
    [GraphQLInt, '42', 42],
    [GraphQLInt, '-1', -1],
    [GraphQLBoolean, 'true', true],
    [GraphQLString, 'true', 'true'],
    [GraphQLID, '7', '7'],
    [Role, 'admin', 'ADMIN'],
    [DateTime, '2026-02-28T00:00:00Z', '2026-02-28T00:00:00Z'],
    [new GraphQLList(new GraphQLNonNull(Role)), 'user,admin', ['USER', 'ADMIN']],
  ])('of type %s reads %p as %p', (type, text, value) => {
    expect(readText(type, text)).toEqual({ value });
  });

  it.each([
    [GraphQLInt, '1.5'],
    [GraphQLInt, '2147483648'],
    [GraphQLInt, ''],
    [GraphQLBoolean, '1'],
    [Role, 'ADMIN'],
    [Role, 'toString'],
    [DateTime, '2026-02-30T00:00:00Z'],
    [DateTime, '0000-01-01T00:00:00Z'],
    [DateTime, '10000-01-01T00:00:00Z'],
    [DateTime, '2026-01-01T24:00:00Z'],
    [DateTime, '2016-12-31T23:59:60Z'],
    [GraphQLString, 'a\0b'],
    [new GraphQLList(Role), 'user,king'],
  ])('of type %s refuses %p', (type, text) => {
    expect(readText(type, text)).toHaveProperty('fault');
  });
});

it('a value in JSON has its own type: text is no number, null is for what may be null', () => {
  expect(readJson(GraphQLInt, '5')).toHaveProperty('fault');
  expect(readJson(GraphQLInt, 1.5)).toHaveProperty('fault');
  expect(readJson(GraphQLID, 12)).toEqual({ value: '12' });
  expect(readJson(GraphQLString, null)).toEqual({ value: null });
  expect(readJson(new GraphQLNonNull(GraphQLString), null)).toHaveProperty('fault');
  expect(readJson(new GraphQLList(GraphQLString), 'x')).toHaveProperty('fault');
});

describe('paging', () => {
  const read = (query: string) => {
    const faults: FieldFault[] = [];
    const parameters = createParameters(new URLSearchParams(query));
    const paging = readPaging(parameters, { faults, fallback: 'page' });
    return { paging, faults: [...faults, ...parameters.faults()].map(({ field }) => field) };
  };

  it.each([
    ['', { variant: 'page', page: 1, limit: 10 }],
    ['page=3&limit=5', { variant: 'page', page: 3, limit: 5 }],
    ['perPage=7&page=2', { variant: 'perPage', page: 2, perPage: 7 }],
    ['limit=5&offset=15', { variant: 'offset', offset: 15, limit: 5 }],
    ['cursor=abc', { variant: 'cursor', cursor: 'abc', limit: 10 }],
    ['after=abc&limit=2', { variant: 'cursor', cursor: 'abc', limit: 2 }],
  ])('?%s is %j', (query, paging) => {
    expect(read(query)).toEqual({ paging, faults: [] });
  });

  it.each([
    'page=1&offset=2',
    'cursor=x&page=2',
    'perPage=5&limit=5',
    'offset=0&cursor=x',
    'cursor=x&after=y',
    'limit=1e1',
    'page=-1',
    'limit=101',
  ])('?%s is a fault', (query) => {
    expect(read(query).faults.length).toBeGreaterThan(0);
  });

  it('asks for between 1 and 100 rows whatever a client sends', () => {
    const text = fc.oneof(fc.string(), fc.integer().map(String));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('page', 'limit', 'perPage', 'offset', 'cursor', 'after'), text), (query) => {
        const { first, last, offset = 0 } = toWindow(read(new URLSearchParams(query).toString()).paging);
        expect(Number(first ?? last)).toBeGreaterThanOrEqual(1);
        expect(Number(first ?? last)).toBeLessThanOrEqual(100);
        expect(Number(offset)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('a list in the query string', () => {
  const take = (query: string) => {
    const parameters = createParameters(new URLSearchParams(query));
    return { items: parameters.takeList('sort'), faults: parameters.faults() };
  };

  // OpenAPI 3.1 §4.8.12.2: `form` is sent repeated when it is exploded, which is the default of clients, and with commas when it is not.
  it.each([
    ['sort=a,b', ['a', 'b']],
    ['sort=a&sort=b', ['a', 'b']],
    ['sort=a,b&sort=c', ['a', 'b', 'c']],
    ['sort=', undefined],
    ['sort=&sort=', undefined],
    ['sort=&sort=a', ['a']],
    ['other', undefined],
  ])('sent as %s has the items %j', (query, items) => {
    expect(take(query).items).toEqual(items);
  });

  it('is refused above a hundred items', () => {
    expect(take(`sort=${'a,'.repeat(99)}a`).faults).toEqual([]);
    expect(take(`sort=${'a,'.repeat(100)}a`)).toMatchObject({ items: { length: 100 }, faults: [{ field: 'sort' }] });
  });
});

it('a value with U+0000 is a fault wherever it stands', () => {
  const parameters = createParameters(new URLSearchParams('cursor=%00&q=a%00b'));
  parameters.take('cursor');
  parameters.take('q');
  expect(parameters.faults().map(({ field }) => field)).toEqual(['cursor', 'q']);
});

it('a parameter that nobody took, or that came twice, is a fault', () => {
  const parameters = createParameters(new URLSearchParams('a=1&b=2&a=3'));
  parameters.take('a');
  expect(parameters.faults().map(({ field }) => field)).toEqual(['a', 'b']);
});
