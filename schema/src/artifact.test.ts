import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { generateSigningKeys, openArtifact, parseSigningKey, parseVerificationKey, signArtifact } from './artifact.ts';

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

describe('the keys', () => {
  it('are read from PEM, and refused without their content when they are of another kind', () => {
    expect(parseSigningKey(privateKeyPem).type).toBe('private');
    expect(parseVerificationKey(publicKeyPem).type).toBe('public');
    expect(() => parseSigningKey('secret text')).toThrow('must name a file with an Ed25519 key in PEM');
  });
});
