import { describe, expect, it } from '@jest/globals';
import { createIds, hasPrefix, prefixOf } from './ids.ts';

describe('createIds', () => {
  it('creates ids with their prefix that sort by time', () => {
    let now = 1_795_000_000_000;
    const createId = createIds({ now: () => now });
    const ids = Array.from({ length: 50 }, () => {
      now += 1;
      return createId('usr');
    });
    expect([...ids].sort()).toEqual(ids);
    expect(ids.every((id) => prefixOf(id) === 'usr' && hasPrefix('usr')(id))).toBe(true);
  });
});

describe('prefixOf', () => {
  it.each(['usr_nonsense', '', 'usr', '1'])('returns undefined for %p, which is not an id', (id) => {
    expect(prefixOf(id)).toBeUndefined();
    expect(hasPrefix('usr')(id)).toBe(false);
  });
});
