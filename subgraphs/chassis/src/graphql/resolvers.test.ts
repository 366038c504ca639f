import { describe, expect, it } from '@jest/globals';
import { mergeResolvers } from './resolvers.ts';

describe('mergeResolvers', () => {
  it('merges the fields of a type from several maps', () => {
    const [a, b, c] = [() => 1, () => 2, () => 3];
    expect(mergeResolvers({ Query: { a } }, { Query: { b }, Post: { c } })).toEqual({ Query: { a, b }, Post: { c } });
  });

  it('throws when two maps resolve the same field', () => {
    expect(() => mergeResolvers({ Query: { a: () => 1 } }, { Query: { a: () => 2 } })).toThrow('Query.a');
  });
});
