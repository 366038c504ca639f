import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isUtf8 } from './query-string.ts';

describe('the check of a query string', () => {
  it('accepts every string that is encoded as UTF-8', () => {
    const text = fc.string({ unit: 'grapheme' });
    fc.assert(fc.property(text, (value) => isUtf8(new URLSearchParams({ q: value }).toString())));
  });

  it.each(['q=%ff', 'q=a%e2%9cb', 'q=%c0%80', 'q=%ed%a0%80', '%f8=1'])('rejects the bytes of %s, which are not UTF-8', (search) => {
    expect(isUtf8(search)).toBe(false);
  });

  it.each(['', 'q=100%', 'q=%zz', 'q=5%-10%', 'q=%E2%9C%93'])('accepts %p', (search) => {
    expect(isUtf8(search)).toBe(true);
  });
});
