/** The headers; what they do is tested in the subgraphs, on real tables. */
import { describe, expect, it } from '@jest/globals';
import { readIdempotencyKey } from './idempotency.ts';

const read = (key?: string, scope?: string) =>
  readIdempotencyKey({ ...(key !== undefined && { 'idempotency-key': key }), ...(scope !== undefined && { 'idempotency-scope': scope }) });

describe('Idempotency-Key', () => {
  it.each(['k', '~!"', 'x'.repeat(255)])('may be %j', (key) => {
    expect(read(key)).toEqual({ key, scope: '', replayed: false });
    expect(read(key, 'POST /orders/ord_1/cancel')).toEqual({ key, scope: 'POST /orders/ord_1/cancel', replayed: false });
  });

  it.each(['', ' ', 'a b', 'a, b', 'x'.repeat(256), 'ü', 'a\u007f'])('may not be %j', (key) => {
    expect(() => read(key)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', details: [expect.objectContaining({ field: 'Idempotency-Key' })] }),
    );
  });

  it('may be left out, and then its scope means nothing', () => {
    expect(read(undefined, 'nonsense')).toBeNull();
    expect(() => read('k', 'nonsense')).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});
