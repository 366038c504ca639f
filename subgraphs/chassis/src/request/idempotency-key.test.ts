/** The headers; what a key does is tested in the subgraphs, on real tables. */
import { describe, expect, it } from '@jest/globals';
import { parseIdempotencyKey } from './idempotency-key.ts';

const parse = (key?: string, scope?: string) =>
  parseIdempotencyKey({ ...(key !== undefined && { 'idempotency-key': key }), ...(scope !== undefined && { 'idempotency-scope': scope }) });

describe('parseIdempotencyKey', () => {
  it.each(['k', '~!"', 'x'.repeat(255)])('accepts the key %j', (key) => {
    expect(parse(key)).toEqual({ key, scope: '', isStoredOnly: false, replayed: false });
    const scope = 'POST /orders/ord_1/cancel';
    expect(parse(key, scope)).toEqual({ key, scope, isStoredOnly: false, replayed: false });
    expect(parse(key, `${scope}#stored`)).toEqual({ key, scope, isStoredOnly: true, replayed: false });
  });

  it.each(['', ' ', 'a b', 'a, b', 'x'.repeat(256), 'ü', 'a\u007f'])('refuses the key %j', (key) => {
    expect(() => parse(key)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_ERROR', details: [expect.objectContaining({ field: 'Idempotency-Key' })] }),
    );
  });

  it('ignores a scope without a key, and refuses a key with an invalid scope', () => {
    expect(parse(undefined, 'nonsense')).toBeNull();
    expect(() => parse('k', 'nonsense')).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});
