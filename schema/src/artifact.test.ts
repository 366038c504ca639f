import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { generateSigningKeys, openArtifact, readArtifact, parseSigningKey, parseVerificationKey, signArtifact } from './artifact.ts';

const { privateKeyPem, publicKeyPem } = generateSigningKeys();
const [privateKey, publicKey] = [createPrivateKey(privateKeyPem), createPublicKey(publicKeyPem)];
const artifact = { environment: 'prod', release: 12, launch: 'ab'.repeat(32), supergraphSdl: 'type Query { a: Int }\n' };
const text = signArtifact(artifact, privateKey);

describe('openArtifact', () => {
  it('returns what was signed, from a source that is valid GraphQL for any other reader', () => {
    expect(openArtifact(text, publicKey)).toEqual(artifact);
    expect(parse(text).definitions).toHaveLength(1);
  });

  it.each([
    ['a source without a signature', artifact.supergraphSdl],
    ['another schema', text.replace('a: Int', 'b: Int')],
    ['a cut schema', text.slice(0, -4)],
    ['a longer schema', `${text}type B { b: Int }`],
    ['another release', text.replace('release=12', 'release=13')],
    ['another environment', text.replace('environment=prod', 'environment=test')],
    ['another launch', text.replace('abab', 'abba')],
    ['the signature of another key', signArtifact(artifact, createPrivateKey(generateSigningKeys().privateKeyPem))],
  ])('throws for %s', (_, changed) => {
    expect(() => openArtifact(changed, publicKey)).toThrow(/signature|signed/);
  });
});

describe('an artifact of a contract', () => {
  const variant = { ...artifact, contract: 'partner' };
  const signed = signArtifact(variant, privateKey);

  it('says of which contract it is', () => {
    expect(openArtifact(signed, publicKey)).toEqual(variant);
    expect(readArtifact(signed)).toEqual(variant);
  });

  it.each([
    ['another contract', signed.replace('contract=partner', 'contract=public')],
    ['none', signed.replace(' contract=partner', '')],
  ])('is refused with %s', (_, changed) => {
    expect(() => openArtifact(changed, publicKey)).toThrow(/signature/);
  });

  it('has its canary too', () => {
    const both = { ...variant, canary: { launch: '12'.repeat(32), percent: 10, supergraphSdl: 'type Query { b: Int }\n' } };
    expect(openArtifact(signArtifact(both, privateKey), publicKey)).toEqual(both);
  });
});

describe('an artifact with a canary', () => {
  const canary = { launch: '12'.repeat(32), percent: 10, supergraphSdl: 'type Query { a: Int b(c: String = "\\n\\u2028"): Int }\n\n' };
  const both = signArtifact({ ...artifact, canary }, privateKey);

  it('returns both supergraphs, and is the supergraph of its launch for any other reader', () => {
    expect(openArtifact(both, publicKey)).toEqual({ ...artifact, canary });
    expect(readArtifact(both)).toEqual({ ...artifact, canary });
    expect(parse(both, { noLocation: true })).toEqual(parse(artifact.supergraphSdl, { noLocation: true }));
  });

  it.each([
    ['another share', both.replace('percent=10', 'percent=99')],
    ['another canary', both.replace('1212', '2121')],
    ['another supergraph of the canary', both.replace('b(c', 'd(c')],
    ['no supergraph of the canary', both.slice(0, both.indexOf('\n# trestle-canary'))],
    ['no canary in its first line', both.replace(/ canary=\S+ percent=10/, '')],
  ])('is refused with %s', (_, changed) => {
    expect(() => openArtifact(changed, publicKey)).toThrow(/signature/);
  });
});

describe('the keys', () => {
  it('are read from PEM, and refused without their content when they are of another kind', () => {
    expect(parseSigningKey(privateKeyPem).type).toBe('private');
    expect(parseVerificationKey(publicKeyPem).type).toBe('public');
    expect(() => parseSigningKey('secret text')).toThrow('must name a file with an Ed25519 key in PEM');
  });
});
