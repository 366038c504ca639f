import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeptBuffers } from './kept-buffers.ts';

const OPTIONS = { smallest: 1024, largest: 4096, maxBytes: 8192 };

describe('kept buffers', () => {
  it('returns a buffer that was given back to the next one who needs its size', () => {
    const buffers = new KeptBuffers(OPTIONS);
    const buffer = buffers.take(1500);
    buffers.give(buffer);
    expect(buffers.take(1024)).not.toBe(buffer);
    expect(buffers.take(2048)).toBe(buffer);
    expect(buffers.take(2048)).not.toBe(buffer);
  });

  it('keeps no buffer that is smaller than the smallest, larger than the largest, or beyond the bytes of all together', () => {
    const buffers = new KeptBuffers(OPTIONS);
    const others = [Buffer.alloc(1023), Buffer.alloc(4097)];
    const given: Buffer[] = [1, 2, 3].map(() => Buffer.alloc(4096));
    for (const buffer of [...others, ...given]) buffers.give(buffer);
    const taken = [1, 2, 3].map(() => buffers.take(4096));
    expect(taken.map((buffer) => given.includes(buffer))).toEqual([true, true, false]);
  });

  it('returns enough bytes in each order of takes and gives, and never the same buffer twice', () => {
    const step = fc.record({ least: fc.integer({ min: 1, max: 6000 }), isGivenBack: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), (steps) => {
        const buffers = new KeptBuffers(OPTIONS);
        const used = new Set<Buffer>();
        for (const { least, isGivenBack } of steps) {
          const buffer = buffers.take(least);
          expect(used.has(buffer)).toBe(false);
          expect(buffer.length).toBeGreaterThanOrEqual(least);
          if (isGivenBack) buffers.give(buffer);
          else used.add(buffer);
        }
      }),
    );
  });
});
