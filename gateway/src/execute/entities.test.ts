import { describe, expect, it } from '@jest/globals';
import { groupPlaces } from './entities.ts';

describe('groupPlaces', () => {
  it('returns the paths of each entity of a batch, and none for objects that were not fetched', () => {
    const places = [['a'], ['b'], ['c'], ['d']];
    expect(groupPlaces(places, Int32Array.of(1, -1, 0, 1))).toEqual(
      new Map([
        [1, [['a'], ['d']]],
        [0, [['c']]],
      ]),
    );
  });

  it('returns no paths when the data has changed since', () => {
    expect(groupPlaces([['a']], Int32Array.of(0, 1)).size).toBe(0);
  });
});
