import { describe, expect, it } from '@jest/globals';
import { toChangedTags } from './changed-tags.ts';

describe('toChangedTags', () => {
  it('returns the types of all objects of an event', () => {
    const data = { sold: { __typename: 'Order', items: [{ __typename: 'Item', lamp: { __typename: 'Lamp', id: '1' } }, null] } };
    expect(toChangedTags({ data })).toEqual(['type:Order', 'type:Item', 'type:Lamp']);
  });

  it('returns the values of `cacheTag` in place of the type of the object that has them', () => {
    const lamp = { __typename: 'Lamp', cacheTag: 7 };
    const data = { sold: { __typename: 'Order', cacheTag: ['order-1', 'shop'], lamp, other: { __typename: 'Other', cacheTag: null } } };
    expect(toChangedTags({ data })).toEqual(['tag:order-1', 'tag:shop', 'tag:7', 'type:Other']);
  });

  it.each([
    ['errors', { data: { sold: { __typename: 'Order' } }, errors: [{ message: 'x' }] }],
    ['no data', { data: null }],
    ['no objects', { data: { tick: 1 } }],
    ['a value that is no tag', { data: { sold: { __typename: 'Order', cacheTag: 'a b' } } }],
    ['an object as a tag', { data: { sold: { __typename: 'Order', cacheTag: { __typename: 'Tag' } } } }],
    ['more than 1,000 tags', { data: { sold: { cacheTag: Array.from({ length: 1001 }, (__, i) => i) } } }],
  ])('returns the tag of everything for an event with %s', (_, result) => {
    expect(toChangedTags(result)).toEqual(['all']);
  });
});
