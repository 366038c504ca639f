import { describe, expect, it } from '@jest/globals';
import { findIdempotencyFaults } from './idempotency-key.ts';

describe('findIdempotencyFaults', () => {
  it.each([{ key: undefined }, { key: 'a' }, { key: '~'.repeat(255), scope: 'POST /orders' }])('accepts %j', (headers) => {
    expect(findIdempotencyFaults(headers)).toEqual([]);
  });

  it.each(['', 'a b', 'é', 'a'.repeat(256), ['a', 'b']])('returns a fault for the key %j', (key) => {
    expect(findIdempotencyFaults({ key })).toEqual([{ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' }]);
  });

  it.each(['', 'POST', 'post /a', 'POST a', `POST /${'a'.repeat(2048)}`])('returns a fault for the scope %j', (scope) => {
    expect(findIdempotencyFaults({ key: 'a', scope })).toEqual([{ field: 'Idempotency-Scope', message: 'must be a method and a path' }]);
  });
});
