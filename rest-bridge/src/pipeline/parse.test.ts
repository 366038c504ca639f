import { describe, expect, it } from '@jest/globals';
import { requirePossibleIds } from './parse.ts';

describe('requirePossibleIds', () => {
  it('accepts ids of up to 100 characters', () => {
    expect(() => {
      requirePossibleIds({ id: 'x'.repeat(100), postId: 'pst_1' });
    }).not.toThrow();
  });

  it('throws NOT_FOUND for a longer one', () => {
    expect(() => {
      requirePossibleIds({ id: 'usr_1', postId: 'x'.repeat(101) });
    }).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});
