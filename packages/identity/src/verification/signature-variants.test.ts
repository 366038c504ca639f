/** Tokens of another issuer without an id, of which ECDSA allows a copy with another signature. */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createRevocations } from '../revocations/revocations.ts';
import { createFixedKeys } from '../tokens/key-source.ts';
import { generateTokenKeys } from '../tokens/tokens.ts';
import { type ForeignTokens, openForeignTokens } from './foreign-tokens.ts';
import { type TestIssuer, startTestIssuer } from './test-issuer.ts';
import { createTokenVerifier } from './token-verifier.ts';
import { parseTrustedIssuers } from './trusted-issuers.ts';

let provider: TestIssuer;
let foreign: ForeignTokens;
beforeAll(async () => {
  provider = await startTestIssuer();
  const issuer = { name: 'acme', issuer: provider.issuer, audience: 'trestle-api', requireJti: false };
  const issuers = parseTrustedIssuers(JSON.stringify({ issuers: [issuer] }));
  foreign = openForeignTokens({ issuers, log: createLog({ service: 'test', level: 'silent' }) });
  await foreign.settled;
});
afterAll(async () => {
  foreign.stop();
  await provider.close();
});

/** The order of the curve P-256 (FIPS 186-4 §D.1.2.3). */
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** Returns an ES256 token with the signature `(r, n - s)` in place of `(r, s)`: both are valid. */
function withOtherSignature(token: string): string {
  const at = token.lastIndexOf('.') + 1;
  const hex = Buffer.from(token.slice(at), 'base64url').toString('hex');
  const s = (P256_ORDER - BigInt(`0x${hex.slice(64)}`)).toString(16).padStart(64, '0');
  return `${token.slice(0, at)}${Buffer.from(`${hex.slice(0, 64)}${s}`, 'hex').toString('base64url')}`;
}

it('refuses a revoked token without a jti also with the other signature that ECDSA has for it', async () => {
  const revocations = createRevocations();
  const keys = createFixedKeys(generateTokenKeys().publicKeyPem);
  const verifier = createTokenVerifier({ keys, foreign, revocations });
  const token = await provider.sign({ jti: undefined as never });
  const other = withOtherSignature(token);
  const { userId, tokenId } = verifier.verify(token);
  expect(verifier.verify(other)).toMatchObject({ userId });
  revocations.add({ userId, tokenId });
  for (const each of [token, other]) expect(() => verifier.verify(each)).toThrow('invalid, expired or revoked');
});
