import { describe, expect, it } from '@jest/globals';
import { wantsProblem } from './media-types.ts';

describe('wantsProblem', () => {
  it.each([
    [undefined, false],
    ['*/*', false],
    ['application/json', false],
    ['application/problem+json', true],
    ['APPLICATION/Problem+JSON', true],
    ['application/problem+json, application/json', false],
    ['application/problem+json;q=0', false],
  ])('says of Accept %p: %p', (accept, isWanted) => {
    expect(wantsProblem(accept)).toBe(isWanted);
  });
});
