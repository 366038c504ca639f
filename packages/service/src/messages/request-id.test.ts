import { describe, expect, it } from '@jest/globals';
import { toRequestId } from './request-id.ts';

const UUID = '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11';

describe('toRequestId', () => {
  it('echoes a UUID', () => {
    expect(toRequestId(UUID)).toBe(UUID);
  });

  it.each([undefined, '', 'x', `${UUID}\n`, `${UUID}, ${UUID}`, [UUID]])('replaces %j by a new UUID', (sent) => {
    expect(toRequestId(sent)).toMatch(/^[0-9a-f-]{36}$/);
    expect(toRequestId(sent)).not.toBe(UUID);
  });
});
