import { describe, expect, it } from '@jest/globals';
import { fail } from '@trestle/schema/errors';
import { toFaultBlock } from './stream.ts';

describe('toFaultBlock', () => {
  it.each([
    [fail('UPSTREAM_ERROR', 'The gateway is unavailable.'), { code: 'UPSTREAM_ERROR', message: 'The gateway is unavailable.' }],
    [new Error('secret'), { code: 'INTERNAL_ERROR', message: 'An unexpected error occurred.' }],
  ])('returns an event with the code, the message and the id of the request: %s', (error, expected) => {
    const [, data = ''] = /^event: fault\ndata: (.*)\n\n$/.exec(toFaultBlock(error, 'r1')) ?? [];
    expect(JSON.parse(data)).toEqual({ error: { ...expected, requestId: 'r1' } });
  });
});
