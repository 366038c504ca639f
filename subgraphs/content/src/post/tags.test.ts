import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkTags, toTag, toTags } from './tags.ts';

const anyTags = fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 30 });

describe('tags', () => {
  it('are stored in lower case, trimmed, without duplicates, sorted', () => {
    expect(toTags([' News', 'art', 'NEWS', 'Ärger', 'zoo'])).toEqual(['art', 'news', 'zoo', 'ärger']);
    fc.assert(
      fc.property(anyTags, (texts) => {
        const tags = toTags(texts);
        expect(tags).toEqual([...new Set(tags)].sort());
        expect(new Set(tags)).toEqual(new Set(texts.map(toTag)));
        expect(tags.every((tag) => tag === tag.toLowerCase().trim())).toBe(true);
      }),
    );
  });

  it('do not change when they are stored again, in any order', () => {
    fc.assert(
      fc.property(
        anyTags.chain((texts) => fc.tuple(fc.constant(texts), fc.shuffledSubarray(texts, { minLength: texts.length }))),
        ([texts, shuffled]) => {
          expect(toTags(toTags(texts))).toEqual(toTags(texts));
          expect(toTags(shuffled)).toEqual(toTags(texts));
        },
      ),
    );
  });

  it('are at most 20 without duplicates, each of 1 to 50 characters, and every fault is listed', () => {
    const many = Array.from({ length: 20 }, (_, i) => `tag ${String(i)}`);
    expect(checkTags([...many, 'TAG 1', ' tag 2 '])).toEqual([]);
    expect(checkTags([...many, 'x'.repeat(51), ' ', 'nul\0']).map(({ field }) => field)).toEqual(['tags', 'tags.20', 'tags.21', 'tags.22']);
    expect(checkTags(['😀'.repeat(50)])).toEqual([]);
    expect(checkTags(null).map(({ field }) => field)).toEqual(['tags']);
  });
});
