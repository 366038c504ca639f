import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { RETIRED_KEY_SECONDS, planRotation } from './key-rotation.ts';
import { parsePublicKeys, parseSigningKey } from './key-set.ts';
import { createFixedKeys } from './key-source.ts';
import { createTestGrant } from './test-identity.ts';
import { createTokenVerifier } from '../verification/token-verifier.ts';
import { createTokenIssuer, generateTokenKeys } from './tokens.ts';

const pair = generateTokenKeys();
const PEM = { privateText: pair.privateKeyPem, publicText: pair.publicKeyPem };
const NOW = 1_795_000_000;
const rotate = (files: { privateText: string; publicText: string }, signsAt = NOW) =>
  planRotation(files, { newKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey, signsAt });
const kids = ({ publicText }: { publicText: string }) => parsePublicKeys(publicText).map(({ kid }) => kid);
const issue = ({ privateText }: { privateText: string }) =>
  createTokenIssuer({ privateKeyPem: privateText }).issue(createTestGrant()).token;

describe('planRotation', () => {
  it('publishes the new key beside the old one, whose tokens are still accepted, also when the old one was in PEM', () => {
    const rotated = rotate(PEM);
    const verifier = createTokenVerifier({ keys: createFixedKeys(rotated.publicText) });
    expect(verifier.verify(issue(PEM))).toMatchObject({ userId: 'usr_a' });
    expect(verifier.verify(issue(rotated))).toMatchObject({ userId: 'usr_a' });
    expect(parseSigningKey(rotated.privateText).kid).toBe(rotated.kid);
    expect(rotated.publicText).not.toContain('"d"');
  });

  it('removes a key at the first rotation after its last token has ended', () => {
    const first = rotate(PEM);
    const second = rotate(first, NOW + RETIRED_KEY_SECONDS - 1);
    expect(second.removed).toEqual([]);
    expect(kids(second)).toHaveLength(3);
    const third = rotate(second, NOW + RETIRED_KEY_SECONDS);
    expect(third.removed).toEqual([parseSigningKey(pair.privateKeyPem).kid]);
    expect(kids(third)).toEqual([third.kid, second.kid, first.kid]);
  });

  it('can publish the new key alone, so that tokens of the old ones are refused', () => {
    const first = rotate(PEM);
    const second = rotate(first);
    expect(kids({ publicText: second.newKeyText })).toEqual([second.kid]);
    expect(second.kept).toEqual([first.kid, parseSigningKey(pair.privateKeyPem).kid]);
    const verifier = createTokenVerifier({ keys: createFixedKeys(second.newKeyText) });
    expect(verifier.verify(issue(second))).toMatchObject({ userId: 'usr_a' });
    for (const old of [PEM, first]) expect(() => verifier.verify(issue(old))).toThrow();
  });

  it('keeps the key that signs after a rotation that was interrupted, and gives the unused key an end', () => {
    const interrupted = { privateText: PEM.privateText, publicText: rotate(PEM).publicText };
    const next = rotate(interrupted, NOW + 2 * RETIRED_KEY_SECONDS);
    const verifier = createTokenVerifier({ keys: createFixedKeys(next.publicText) });
    expect(verifier.verify(issue(PEM))).toMatchObject({ userId: 'usr_a' });
    expect(parsePublicKeys(next.publicText).filter(({ exp }) => exp === undefined)).toHaveLength(1);
  });

  it('refuses files that are not a pair', () => {
    expect(() => rotate({ ...PEM, publicText: generateTokenKeys().publicKeyPem })).toThrow('do not contain the key that signs');
  });
});

describe('parsePublicKeys', () => {
  const jwk = parsePublicKeys(pair.publicKeyPem)[0];
  it.each([
    ['a private key', { keys: [parseSigningKey(pair.privateKeyPem).key.export({ format: 'jwk' })] }, 'contains a private key'],
    ['no key', { keys: [] }, 'is empty'],
    ['two keys with one id', { keys: [jwk, jwk] }, 'have the same `kid`'],
    ['51 keys', { keys: Array.from({ length: 51 }, () => jwk) }, 'at most 50 keys'],
    ['something else', { key: jwk }, 'is not a JSON Web Key Set'],
    ['an RSA key', { keys: [generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })] }, 'P-256'],
  ])('refuses %s', (_, document, message) => {
    expect(() => parsePublicKeys(JSON.stringify(document))).toThrow(message);
  });

  it('names a key by its thumbprint (RFC 7638)', () => {
    expect(jwk?.kid).toMatch(/^[\w-]{43}$/);
    expect(parseSigningKey(pair.privateKeyPem).kid).toBe(jwk?.kid);
  });
});
