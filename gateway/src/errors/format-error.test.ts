import { describe, expect, it } from '@jest/globals';
import { createSubgraphErrors, formatError, mergeDenials, needsCredential } from './format-error.ts';

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

describe('the setting for errors of subgraphs', () => {
  const own = {
    message: 'Order 7 is closed',
    extensions: { code: 'NOT_FOUND', service: 'shop', stacktrace: ['at x'], hint: 1, details: [{ field: 'a', message: 'b' }] },
  };
  const foreign = { message: 'row locked by pid 12', path: ['a'], extensions: { code: 'ROW_LOCKED', service: 'shop', hint: 1 } };
  const nameless = { message: 'boom', extensions: { service: 'shop' } };
  const format = (policy: 'mask' | 'codes' | 'pass', error: typeof nameless) =>
    formatError(error, undefined, createSubgraphErrors('mask', new Map([['shop', policy]])));
  const masked = { message: 'Something went wrong on our side', extensions: { code: 'INTERNAL_ERROR', service: 'shop' } };
  const known = {
    message: 'Order 7 is closed',
    extensions: { code: 'NOT_FOUND', service: 'shop', details: [{ field: 'a', message: 'b' }] },
  };

  it('lets errors with known codes through by mask, and nothing of others but where they come from', () => {
    expect([own, foreign, nameless].map((error) => format('mask', error))).toEqual([known, { ...masked, path: ['a'] }, masked]);
  });

  it('lets other codes through by codes, without their messages and extensions', () => {
    const told = { message: 'The subgraph shop reported an error', path: ['a'], extensions: { code: 'ROW_LOCKED', service: 'shop' } };
    expect([own, foreign, nameless].map((error) => format('codes', error))).toEqual([known, told, masked]);
  });

  it('lets everything through by pass but stack traces, and says UPSTREAM_ERROR where there is no code', () => {
    const { stacktrace, ...extensions } = own.extensions;
    expect(stacktrace).toHaveLength(1);
    expect([own, foreign, nameless].map((error) => format('pass', error))).toEqual([
      { ...own, extensions },
      foreign,
      { message: 'boom', extensions: { code: 'UPSTREAM_ERROR', service: 'shop' } },
    ]);
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
