import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { closestTo, distanceOf, isCorrectable, swapsOf } from './spelling.ts';

// cspell:ignore brigde brige briddge brudge arhictecture

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'ü'), maxLength: 10 });

describe('the distance of two words', () => {
  it.each([
    ['bridge', 'bridge', 0],
    ['brigde', 'bridge', 1],
    ['brige', 'bridge', 1],
    ['briddge', 'bridge', 1],
    ['brudge', 'bridge', 1],
    ['', 'abc', 3],
    ['ca', 'abc', 3],
  ])('of %j and %j is %i', (left, right, distance) => {
    expect(distanceOf(left, right)).toBe(distance);
  });

  it('is symmetric, zero only for equal words, and at most the length of the longer one', () => {
    fc.assert(
      fc.property(word, word, (left, right) => {
        const distance = distanceOf(left, right);
        expect(distanceOf(right, left)).toBe(distance);
        expect(distance === 0).toBe(left === right);
        expect(distance).toBeLessThanOrEqual(Math.max(left.length, right.length));
      }),
    );
  });
});

describe('a misspelt word', () => {
  it('is corrected to the closest candidates that are close enough', () => {
    expect(closestTo('brigde', ['bridge', 'brigade', 'fridge'])).toEqual(['bridge', 'brigade']);
    expect(closestTo('bird', ['bread', 'word'])).toEqual([]);
    expect(closestTo('arhictecture', ['architecture', 'agriculture'])).toEqual(['architecture']);
    expect(closestTo('tent', ['test', 'text', 'bent', 'sent'])).toEqual(['test', 'text', 'bent']);
    expect(closestTo('tent', [])).toEqual([]);
  });

  it('is not corrected when it is short, or not made of letters', () => {
    expect(['abc', 'abcd', 'x1234', 'a-bcd', 'a'.repeat(31)].filter(isCorrectable)).toEqual(['abcd']);
  });

  it('has one swap for each pair of neighbouring letters, each at a distance of at most one', () => {
    fc.assert(
      fc.property(word, (written) => {
        const swaps = swapsOf(written);
        expect(swaps).toHaveLength(Math.max(0, written.length - 1));
        for (const swap of swaps) expect(distanceOf(written, swap)).toBeLessThanOrEqual(1);
      }),
    );
  });
});
