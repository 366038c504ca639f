import { describe, expect, it } from '@jest/globals';
import { readClaims, toClaimValue } from './header-values.ts';

const tokenOf = (claims: unknown) => `Bearer e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2ln`;

describe('readClaims', () => {
  it('returns the claims of a token', () => {
    expect(readClaims(tokenOf({ sub: 'usr_1', ü: 'ß' }))).toEqual({ sub: 'usr_1', ü: 'ß' });
  });

  it.each([undefined, '', 'Bearer', 'Bearer x', 'Bearer a.!.c', tokenOf(null), tokenOf([1]), tokenOf('sub')])(
    'returns none for %j',
    (sent) => {
      expect(readClaims(sent)).toEqual({});
    },
  );
});

describe('toClaimValue', () => {
  const claims = {
    sub: 'usr 1',
    level: 3,
    isStaff: false,
    realm: { roles: ['a', 'b'], deep: { n: 0 } },
    'https://example.org/tenant': 'acme',
    'a.b': 'whole',
    a: { b: 'path' },
  };

  it.each([
    ['sub', 'usr 1'],
    ['level', '3'],
    ['isStaff', 'false'],
    ['realm.roles', 'a,b'],
    ['realm.deep.n', '0'],
    ['https://example.org/tenant', 'acme'],
    ['a.b', 'whole'],
  ])('returns the value of %s', (name, value) => {
    expect(toClaimValue(claims, name)).toBe(value);
  });

  it.each(['none', 'realm', 'realm.none', 'sub.length', 'realm.roles.0', 'toString', 'constructor.name', '__proto__', '', '.'])(
    'returns undefined for %j, which is no value',
    (name) => {
      expect(toClaimValue(claims, name)).toBeUndefined();
    },
  );

  it.each([
    'a\r\nx-admin: 1',
    'a\nb',
    'a\u0000',
    'Zoë',
    '日本',
    '\u010a',
    ' a',
    'a\t',
    '',
    'x'.repeat(8193),
    null,
    {},
    [],
    ['a,admin'],
    ['a', ''],
    ['a', {}],
    Array(101).fill('a'),
    Array(100).fill('x'.repeat(100)),
  ])('returns undefined for the hostile value %j', (value) => {
    expect(toClaimValue({ value }, 'value')).toBeUndefined();
  });
});
