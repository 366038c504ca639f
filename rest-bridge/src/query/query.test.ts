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
import { parsePaging, toConnectionArguments } from './paging.ts';
import { createParameters } from './parameters.ts';
import { parseJsonValue, parseText } from './values.ts';

const Role = new GraphQLEnumType({ name: 'Role', values: { USER: {}, ADMIN: {} } });
const DateTime = new GraphQLScalarType({ name: 'DateTime' });

describe('parseText', () => {
  it.each([
    [GraphQLInt, '42', 42],
    [GraphQLInt, '-1', -1],
    [GraphQLBoolean, 'true', true],
    [GraphQLString, 'true', 'true'],
    [GraphQLID, '7', '7'],
    [Role, 'admin', 'ADMIN'],
    [DateTime, '2026-02-28T00:00:00Z', '2026-02-28T00:00:00Z'],
    [new GraphQLList(new GraphQLNonNull(Role)), 'user,admin', ['USER', 'ADMIN']],
  ])('parses a value of type %s from %p to %p', (type, text, value) => {
    expect(parseText(type, text)).toEqual({ value });
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
  ])('returns a fault for the type %s and the text %p', (type, text) => {
    expect(parseText(type, text)).toHaveProperty('fault');
  });
});

describe('the fault of an integer', () => {
  it.each([
    ['2147483648', 'must be an integer from -2147483648 to 2147483647'],
    ['99999999999', 'must be an integer from -2147483648 to 2147483647'],
    ['-'.padEnd(5000, '9'), 'must be an integer from -2147483648 to 2147483647'],
    ['1.5', 'must be an integer'],
  ])('says of %.20s that it %s', (text, fault) => {
    expect(parseText(GraphQLInt, text)).toEqual({ fault });
  });
});

describe('parseJsonValue', () => {
  it('accepts only JSON values of the GraphQL type, and null only for nullable types', () => {
    expect(parseJsonValue(GraphQLInt, '5')).toHaveProperty('fault');
    expect(parseJsonValue(GraphQLInt, 1.5)).toHaveProperty('fault');
    expect(parseJsonValue(GraphQLID, 12)).toHaveProperty('fault');
    expect(parseJsonValue(GraphQLID, 12, 'productId')).toEqual({ value: '12' });
    expect(parseJsonValue(GraphQLString, null)).toEqual({ value: null });
    expect(parseJsonValue(new GraphQLNonNull(GraphQLString), null)).toHaveProperty('fault');
    expect(parseJsonValue(new GraphQLList(GraphQLString), 'x')).toHaveProperty('fault');
  });
});

describe('parsePaging', () => {
  const read = (query: string) => {
    const faults: FieldFault[] = [];
    const parameters = createParameters(new URLSearchParams(query));
    const paging = parsePaging(parameters, { faults, fallback: 'page' });
    return { paging, faults: [...faults, ...parameters.faults()].map(({ field }) => field) };
  };

  it.each([
    ['', { variant: 'page', page: 1, limit: 10 }],
    ['page=3&limit=5', { variant: 'page', page: 3, limit: 5 }],
    ['perPage=7&page=2', { variant: 'perPage', page: 2, perPage: 7 }],
    ['limit=5&offset=15', { variant: 'offset', offset: 15, limit: 5 }],
    ['cursor=abc', { variant: 'cursor', cursor: 'abc', limit: 10 }],
    ['after=abc&limit=2', { variant: 'cursor', cursor: 'abc', limit: 2 }],
  ])('parses ?%s to %j', (query, paging) => {
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
  ])('returns a fault for ?%s', (query) => {
    expect(read(query).faults.length).toBeGreaterThan(0);
  });

  it('requests between 1 and 100 items for any parameters', () => {
    const text = fc.oneof(fc.string(), fc.integer().map(String));
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('page', 'limit', 'perPage', 'offset', 'cursor', 'after'), text), (query) => {
        const { first, last, offset = 0 } = toConnectionArguments(read(new URLSearchParams(query).toString()).paging);
        expect(Number(first ?? last)).toBeGreaterThanOrEqual(1);
        expect(Number(first ?? last)).toBeLessThanOrEqual(100);
        expect(Number(offset)).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('Parameters.takeList', () => {
  const take = (query: string) => {
    const parameters = createParameters(new URLSearchParams(query));
    return { items: parameters.takeList('sort'), faults: parameters.faults() };
  };

  // OpenAPI 3.1 §4.8.12.2: the style `form` repeats the parameter with `explode`, the default of clients, and uses commas without it.
  it.each([
    ['sort=a,b', ['a', 'b']],
    ['sort=a&sort=b', ['a', 'b']],
    ['sort=a,b&sort=c', ['a', 'b', 'c']],
    ['sort=', undefined],
    ['sort=&sort=', undefined],
    ['sort=&sort=a', ['a']],
    ['other', undefined],
  ])('parses %s to the items %j', (query, items) => {
    expect(take(query).items).toEqual(items);
  });

  it('returns a fault above 100 items', () => {
    expect(take(`sort=${'a,'.repeat(99)}a`).faults).toEqual([]);
    expect(take(`sort=${'a,'.repeat(100)}a`)).toMatchObject({ items: { length: 100 }, faults: [{ field: 'sort' }] });
  });
});

describe('Parameters.faults', () => {
  it('returns a fault for each value that contains U+0000', () => {
    const parameters = createParameters(new URLSearchParams('cursor=%00&q=a%00b'));
    parameters.take('cursor');
    parameters.take('q');
    expect(parameters.faults().map(({ field }) => field)).toEqual(['cursor', 'q']);
  });

  it('returns no second fault for a value with U+0000', () => {
    const parameters = createParameters(new URLSearchParams('q=%00&q=%00&x=%00&cursor=%00'));
    parameters.take('q');
    parameters.take('cursor');
    const found = [{ field: 'cursor', message: 'must be a string' }];
    expect(parameters.faults(found).map(({ field }) => field)).toEqual(['q', 'x']);
  });

  it('returns a fault for each parameter that is unknown or repeated', () => {
    const parameters = createParameters(new URLSearchParams('a=1&b=2&a=3'));
    parameters.take('a');
    expect(parameters.faults().map(({ field }) => field)).toEqual(['a', 'b']);
  });
});
