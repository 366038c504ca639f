import { describe, expect, it } from '@jest/globals';
import { formatError, mergeDenials, needsCredential } from './errors.ts';

describe('an error that leaves', () => {
  it('has a code of ours and nothing that was not meant for the client', () => {
    const error = {
      message: 'No such order',
      path: ['order'],
      extensions: {
        code: 'NOT_FOUND',
        serviceName: 'orders',
        stacktrace: ['at x'],
        url: 'http://10.0.0.1',
        details: [{ field: 'id', message: 'x' }],
        retryAfter: 1,
      },
    };
    expect(formatError(error, undefined)).toEqual({
      message: 'No such order',
      path: ['order'],
      extensions: { code: 'NOT_FOUND', service: 'orders', details: [{ field: 'id', message: 'x' }], retryAfter: 1 },
    });
  });

  it('is INTERNAL_ERROR and says nothing when nobody gave it a code', () => {
    const error = { message: 'connect ECONNREFUSED 127.0.0.1:4002', extensions: { code: 'DOWNSTREAM_SERVICE_ERROR' } };
    expect(JSON.stringify(formatError(error, undefined))).not.toContain('ECONN');
    expect(formatError(error, undefined).extensions).toEqual({ code: 'INTERNAL_ERROR' });
  });

  it('is VALIDATION_ERROR for a document or a variable that does not fit', () => {
    for (const code of ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']) {
      expect(formatError({ message: 'x', extensions: { code } }, undefined).extensions).toEqual({ code: 'VALIDATION_ERROR' });
    }
  });
});

it('tells one error a coordinate, whatever the number of fetches that denied it', () => {
  const denial = (count: number, coordinate = 'User.email') => ({
    message: 'masked',
    extensions: { code: 'FORBIDDEN', masked: true, coordinate, count },
  });
  const other = { message: 'x', extensions: { code: 'GONE' } };
  expect(mergeDenials([denial(2), other, denial(3), denial(1, 'User.phone')]).map(({ extensions }) => extensions?.['count'])).toEqual([
    5,
    undefined,
    1,
  ]);
});

it('is 401 as a whole only when nothing came of the request but the need of a credential', () => {
  const unauthorized = { message: '', extensions: { code: 'UNAUTHORIZED' } };
  expect(needsCredential(null, [unauthorized])).toBe(true);
  expect(needsCredential({ a: 1 }, [unauthorized])).toBe(false);
  expect(needsCredential(null, [unauthorized, { message: '', extensions: { code: 'GONE' } }])).toBe(false);
});
