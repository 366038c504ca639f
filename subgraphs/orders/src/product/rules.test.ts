import { describe, expect, it } from '@jest/globals';
import { parseProductChange, parseProductId } from './rules.ts';

describe('parseProductId', () => {
  it.each(['', '0', '-1', '1.5', '1e3', 'abc', '2147483648', '٣'])('returns undefined for %p', (id) => {
    expect(parseProductId(id)).toBeUndefined();
  });

  it.each(['2147483647', '7'])('parses %p', (id) => {
    expect(parseProductId(id)).toBe(Number(id));
  });
});

describe('parseProductChange', () => {
  it('says of null that it must not be null, and of a negative number that it is too small', () => {
    const detailsOf = (input: Parameters<typeof parseProductChange>[0]) => {
      try {
        return parseProductChange(input);
      } catch (error) {
        return (error as { details?: unknown }).details;
      }
    };
    expect(detailsOf({ price: null, stock: -1, currency: null })).toEqual([
      { field: 'price', message: 'must not be null' },
      { field: 'currency', message: 'must not be null' },
      { field: 'stock', message: 'must be at least 0' },
    ]);
  });
});
