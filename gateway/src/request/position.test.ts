import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '@trestle/service/testing/test-characters';
import fc from 'fast-check';
import { readResume, toClientPosition, toSourcePosition } from './position.ts';

describe('positions of subscriptions', () => {
  it('returns the position of the subgraph unchanged, encoded in characters of an event id', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), fc.string({ unit: anyCharacter, maxLength: 100 }), (service, position) => {
        const encoded = toClientPosition(service, position);
        expect(encoded).toMatch(/^[\w-]+$/);
        expect(readResume({ resume: { after: encoded } })).toEqual({ after: encoded });
        expect(toSourcePosition(service, encoded)).toBe(position);
      }),
    );
  });

  it('throws GONE for a position of another subgraph', () => {
    expect(() => toSourcePosition('orders', toClientPosition('users', '7'))).toThrow(expect.objectContaining({ code: 'GONE' }));
  });

  it('throws VALIDATION_ERROR for every value that the server cannot have sent', () => {
    const rejects = (after: unknown) => {
      expect(() => readResume({ resume: { after } })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
    };
    fc.assert(fc.property(fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()), fc.object()), rejects));
    for (const text of ['', 'x', '[]', 'WyJhIl0', 'WzEsMl0', toClientPosition('users', 'x'.repeat(4000))]) rejects(text);
  });

  it('throws VALIDATION_ERROR when extensions.resume is not an object', () => {
    expect(readResume({})).toBeUndefined();
    expect(readResume({ resume: {} })).toEqual({});
    for (const resume of [null, true, 'x', 1, []])
      expect(() => readResume({ resume })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});
