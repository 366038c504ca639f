import { describe, expect, it } from '@jest/globals';
import { parseProductId } from './rules.ts';

describe('parseProductId', () => {
  it.each(['', '0', '-1', '1.5', '1e3', 'abc', '2147483648', '٣'])('returns undefined for %p', (id) => {
    expect(parseProductId(id)).toBeUndefined();
  });

  it.each(['2147483647', '7'])('parses %p', (id) => {
    expect(parseProductId(id)).toBe(Number(id));
  });
});
