import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readResume, toClientPosition, toSourcePosition } from './position.ts';

describe('a position', () => {
  it('is given back as it came, in letters that fit into an event id', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 100 }), (service, position) => {
        const told = toClientPosition(service, position);
        expect(told).toMatch(/^[\w-]+$/);
        expect(readResume({ resume: { after: told } })).toEqual({ after: told });
        expect(toSourcePosition(service, told)).toBe(position);
      }),
    );
  });

  it('of another subgraph is GONE', () => {
    expect(() => toSourcePosition('orders', toClientPosition('users', '7'))).toThrow(expect.objectContaining({ code: 'GONE' }));
  });

  it('that nobody gave is VALIDATION_ERROR, whatever it is', () => {
    const refused = (after: unknown) => {
      expect(() => readResume({ resume: { after } })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    };
    fc.assert(fc.property(fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()), fc.object()), refused));
    for (const text of ['', 'x', '[]', 'WyJhIl0', 'WzEsMl0', toClientPosition('users', 'x'.repeat(4000))]) refused(text);
  });

  it('is asked for by an object only', () => {
    expect(readResume({})).toBeUndefined();
    expect(readResume({ resume: {} })).toEqual({});
    for (const resume of [null, true, 'x', 1, []])
      expect(() => readResume({ resume })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});
