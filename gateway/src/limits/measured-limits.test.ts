import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from './limits.ts';
import { CEILINGS, measureOperation, toRefusingLimits } from './measured-limits.ts';

describe('toRefusingLimits', () => {
  it('returns the limits themselves where they are enforced, and the higher of limit and ceiling otherwise', () => {
    expect(toRefusingLimits(DEFAULT_LIMITS)).toBe(DEFAULT_LIMITS);
    expect(toRefusingLimits({ ...DEFAULT_LIMITS, mode: 'measure', maxDepth: 900 })).toEqual({
      ...DEFAULT_LIMITS,
      ...CEILINGS,
      mode: 'measure',
      maxDepth: 900,
    });
  });
});

describe('measureOperation', () => {
  const nested = (levels: number): unknown => (levels === 0 ? 1 : { in: [nested(levels - 1)] });
  const measure = (value: unknown, mode: 'enforce' | 'measure' = 'measure') =>
    measureOperation([{ limit: 'maxDepth', value: 13 }], { a: value }, { limits: { ...DEFAULT_LIMITS, mode }, locate: () => undefined });

  it('adds the depth of variables to what the document exceeds', () => {
    expect(measure(nested(50))).toEqual([{ limit: 'maxDepth', value: 13 }]);
    expect(measure(nested(51))).toEqual([
      { limit: 'maxDepth', value: 13 },
      { limit: 'maxInputDepth', value: 51 },
    ]);
  });

  it('throws for variables above the ceiling, or above the limit where it is enforced', () => {
    expect(() => measure(nested(201))).toThrow('input object depth 201 exceeds the limit of 200');
    expect(() => measure(nested(51), 'enforce')).toThrow('input object depth 51 exceeds the limit of 50');
  });
});
