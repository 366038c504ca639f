import { describe, expect, it } from '@jest/globals';
import { createSubgraphErrors, formatError, mergeDenials, needsCredential } from './format-error.ts';
import type { ErrorExtensions } from './extension-lists.ts';

describe('formatError', () => {
  it('keeps our code and only the extensions that clients may see', () => {
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

  it('returns a masked INTERNAL_ERROR for an error without one of our codes', () => {
    const error = { message: 'connect ECONNREFUSED 127.0.0.1:4002', extensions: { code: 'DOWNSTREAM_SERVICE_ERROR' } };
    expect(JSON.stringify(formatError(error, undefined))).not.toContain('ECONN');
    expect(formatError(error, undefined).extensions).toEqual({ code: 'INTERNAL_ERROR' });
  });

  it('returns VALIDATION_ERROR for codes of invalid documents and variables', () => {
    for (const code of ['GRAPHQL_PARSE_FAILED', 'GRAPHQL_VALIDATION_FAILED', 'BAD_USER_INPUT']) {
      expect(formatError({ message: 'x', extensions: { code } }, undefined).extensions).toEqual({ code: 'VALIDATION_ERROR' });
    }
  });
});

describe('formatError with a policy for subgraph errors', () => {
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

  it('passes errors with our codes by `mask`, and only the name of the subgraph of others', () => {
    expect([own, foreign, nameless].map((error) => format('mask', error))).toEqual([known, { ...masked, path: ['a'] }, masked]);
  });

  it('passes other codes by `codes`, without their messages and extensions', () => {
    const reported = { message: 'The subgraph shop reported an error', path: ['a'], extensions: { code: 'ROW_LOCKED', service: 'shop' } };
    expect([own, foreign, nameless].map((error) => format('codes', error))).toEqual([known, reported, masked]);
  });

  it('passes everything except stack traces by `pass`, with UPSTREAM_ERROR for a missing code', () => {
    const { stacktrace, ...extensions } = own.extensions;
    expect(stacktrace).toHaveLength(1);
    expect([own, foreign, nameless].map((error) => format('pass', error))).toEqual([
      { ...own, extensions },
      foreign,
      { message: 'boom', extensions: { code: 'UPSTREAM_ERROR', service: 'shop' } },
    ]);
  });
});

it('merges the denials of each field coordinate into one error', () => {
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

it('requires a credential only for a result without data whose errors are all UNAUTHORIZED', () => {
  const unauthorized = { message: '', extensions: { code: 'UNAUTHORIZED' } };
  expect(needsCredential(null, [unauthorized])).toBe(true);
  expect(needsCredential({ a: 1 }, [unauthorized])).toBe(false);
  expect(needsCredential(null, [unauthorized, { message: '', extensions: { code: 'GONE' } }])).toBe(false);
});

describe('lists of extensions', () => {
  const formatWith = (policy: 'mask' | 'codes' | 'pass', lists: ErrorExtensions, extensions: Record<string, unknown>) => {
    const error = { message: 'boom', extensions: { service: 'Shop', ...extensions } };
    const { message, extensions: shown } = formatError(error, undefined, createSubgraphErrors(policy, new Map(), lists));
    return { message, ...shown };
  };
  const toLists = (lists: ErrorExtensions['all'], own?: ErrorExtensions['all']): ErrorExtensions => ({
    all: lists,
    bySubgraph: new Map(own ? [['shop', own]] : []),
  });
  const LOCKED = { code: 'ROW_LOCKED', sql: 'select', hint: 'wait', stacktrace: ['at x'] };
  const NAMED = { code: 'ROW_LOCKED', service: 'Shop' };

  it('show only what is allowed, and nothing that is denied; code and service stay', () => {
    expect(formatWith('pass', toLists({ allow: new Set(['hint']) }), LOCKED)).toEqual({ message: 'boom', ...NAMED, hint: 'wait' });
    expect(formatWith('pass', toLists({ deny: new Set(['sql']) }), LOCKED)).toEqual({ message: 'boom', ...NAMED, hint: 'wait' });
    const both = toLists({ allow: new Set(['hint', 'sql']), deny: new Set(['hint']) });
    expect(formatWith('pass', both, LOCKED)).toEqual({ message: 'boom', ...NAMED, sql: 'select' });
  });

  it('of a subgraph take the place of the same lists for all', () => {
    const lists = toLists({ allow: new Set(['sql']), deny: new Set(['hint']) }, { allow: new Set(['hint', 'sql']) });
    expect(formatWith('pass', lists, LOCKED)).toEqual({ message: 'boom', ...NAMED, sql: 'select' });
  });

  it('add extensions to errors with a code by the policy `codes`, and none by `mask`', () => {
    const lists = toLists({ allow: new Set(['hint', 'stacktrace', 'code']) });
    expect(formatWith('codes', lists, LOCKED)).toEqual({ message: 'The subgraph Shop reported an error', ...NAMED, hint: 'wait' });
    expect(formatWith('codes', lists, { code: 'NOT_FOUND', hint: 'x', sql: 's', details: [] })).toEqual({
      ...{ message: 'boom', code: 'NOT_FOUND', service: 'Shop', hint: 'x', details: [] },
    });
    expect(formatWith('codes', lists, { hint: 'x' })).toMatchObject({ code: 'INTERNAL_ERROR', service: 'Shop' });
    expect(formatWith('codes', lists, { hint: 'x' })).not.toHaveProperty('hint');
    expect(formatWith('mask', lists, LOCKED)).not.toHaveProperty('hint');
  });

  it('never hide what the gateway reads of errors with a code of its own', () => {
    const denial = { code: 'FORBIDDEN', masked: true, coordinate: 'A.b', count: 2 };
    expect(formatWith('pass', toLists({ allow: new Set(['hint']), deny: new Set(['masked']) }), denial)).toMatchObject(denial);
  });

  it('compare names as they are, also those of the prototypes of objects', () => {
    const hostile = JSON.parse('{"code":"X","__proto__":{"a":1},"constructor":1,"Hint":2}') as Record<string, unknown>;
    expect(formatWith('pass', toLists({ allow: new Set(['hint']) }), hostile)).toEqual({ message: 'boom', code: 'X', service: 'Shop' });
    expect(formatWith('pass', toLists({ deny: new Set(['constructor']) }), hostile)).toEqual({
      ...{ message: 'boom', code: 'X', service: 'Shop', Hint: 2 },
    });
  });
});
