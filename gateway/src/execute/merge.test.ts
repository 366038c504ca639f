import { describe, expect, it } from '@jest/globals';
import { merge } from './merge.ts';

describe('with the names of interfaces, merge', () => {
  const whole = { __typename: 'Book', title: 'a', shop: { __typename: 'Store', id: 1 }, tags: [{ id: 1 }, { id: 2 }] };

  it('keeps types where another fetch knows the interface only, and values where it has null', () => {
    const target = structuredClone<Record<string, unknown>>(whole);
    merge(target, { __typename: 'Product', title: null, shop: { __typename: 'Place', id: 1 }, tags: [null, { id: 2 }] }, [
      'Product',
      'Place',
    ]);
    expect(target).toEqual(whole);
  });

  it('replaces the name of an interface by a type, and null by a value', () => {
    const target = { __typename: 'Product', title: null, shop: { __typename: 'Place' }, tags: [null, { id: 2 }] };
    merge(target, structuredClone(whole), ['Product', 'Place']);
    expect(target).toEqual(whole);
  });
});
