import { describe, expect, it } from '@jest/globals';
import { readSubscriptions } from './read-subscriptions.ts';

describe('readSubscriptions', () => {
  it('selects `__typename` wherever an event has an object, but not at the root (GraphQL §5.2.3)', () => {
    const { query, operationNames } = readSubscriptions(
      'subscription Sold { sold { id lamp { ...Name } } } subscription Tick { tick } fragment Name on Lamp { name }',
    );
    expect(operationNames).toEqual(['Sold', 'Tick']);
    expect(query.replace(/\s+/g, ' ')).toBe(
      'subscription Sold { sold { id lamp { ...Name __typename } __typename } } subscription Tick { tick } fragment Name on Lamp { name __typename }',
    );
  });

  it.each([
    ['', 'must be a GraphQL document'],
    ['subscription A { a', 'must be a GraphQL document'],
    [`subscription A { ${'a '.repeat(10_001)} }`, 'must be a GraphQL document'],
    ['fragment A on B { c }', 'must have 1 to 20 subscriptions'],
    [Array.from({ length: 21 }, (_, i) => `subscription A${String(i)} { a }`).join(' '), 'must have 1 to 20 subscriptions'],
    ['subscription { a }', 'must have named subscriptions only'],
    ['query A { a }', 'must have named subscriptions only'],
    ['subscription A { a } subscription A { b }', 'must have subscriptions with different names'],
    ['subscription A($id: ID) { a(id: $id) }', 'the subscription `A` must have no variables'],
    ['subscription A { a b }', 'the subscription `A` must select one field'],
    ['subscription A { ...F } fragment F on Subscription { a }', 'the subscription `A` must select one field'],
  ])('refuses %.50s', (text, message) => {
    expect(() => readSubscriptions(text)).toThrow(message);
  });
});
