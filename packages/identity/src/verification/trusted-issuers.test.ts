/** The file of trusted issuers. */
import { describe, expect, it } from '@jest/globals';
import { REVOCATION_SECONDS } from '../revocations/revocations.ts';
import { MAPPING, parseIssuers } from './test-foreign-tokens.ts';
import { toRevocationSeconds } from './trusted-issuers.ts';

describe('parseTrustedIssuers', () => {
  it.each([
    ['a symmetric algorithm', { algorithms: ['HS256'] }, 'algorithms'],
    ['the algorithm none', { algorithms: ['none'] }, 'algorithms'],
    ['an address without TLS', { issuer: 'http://idp.example' }, 'issuer must be an https URL'],
    ['an unknown field', { audiences: 'x' }, 'audiences'],
    ['a lifetime of more than 30 days', { maxLifetimeSeconds: 2_592_001 }, 'maxLifetimeSeconds'],
    ['the scope that manages accounts', { scopes: { claim: 'scope', map: { x: ['account:manage'] } } }, 'scopes'],
    ['a name that could be part of an id of ours', { name: 'a:b' }, 'name must be'],
  ])('refuses %s', (_, changes, message) => {
    expect(() => parseIssuers({ ...MAPPING, issuer: 'https://idp.example', ...changes })).toThrow(message);
  });

  it('says for how long revocations are kept: 5 minutes longer than the longest token lives', () => {
    const url = { ...MAPPING, issuer: 'https://a.example' };
    expect(toRevocationSeconds()).toBe(REVOCATION_SECONDS);
    expect(toRevocationSeconds(parseIssuers({ ...url, maxLifetimeSeconds: 60 }))).toBe(REVOCATION_SECONDS);
    expect(toRevocationSeconds(parseIssuers({ ...url, maxLifetimeSeconds: 86_400 }))).toBe(86_700);
  });

  it('refuses two issuers with the same name', () => {
    const one = { ...MAPPING, issuer: 'https://a.example' };
    expect(() => parseIssuers(one, { ...one, issuer: 'https://b.example' })).toThrow('the same `name`');
  });
});
