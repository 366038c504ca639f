/** The keys of a real provider over HTTP. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import type { JWK } from 'jose';
import { type ForeignTokenTests, REJECTED, untilAccepted, startForeignTokenTests } from './test-foreign-tokens.ts';

const log = createLog({ service: 'test', level: 'silent' });

let provider: ForeignTokenTests['provider'];
let open: ForeignTokenTests['open'];
let reset: ForeignTokenTests['reset'];

beforeAll(async () => {
  ({ provider, open, reset } = await startForeignTokenTests(log));
});
afterAll(() => provider.close());
afterEach(() => reset());

describe('the keys of another issuer', () => {
  it('are loaded again for an unknown key id, after which tokens of a removed key are refused', async () => {
    const { verifier } = await open();
    const old = await provider.sign();
    verifier.verify(old);
    await provider.rotate('second', 'RS256');
    const token = await provider.sign();
    await untilAccepted(() => verifier.verify(token));
    expect(() => verifier.verify(old)).toThrow(REJECTED);
  });

  it('end what is watched for callers of a removed key, once, and nothing else', async () => {
    const { verifier } = await open();
    const ended: string[] = [];
    const watch = async (name: string) => verifier.watch(verifier.verify(await provider.sign()), () => ended.push(name));
    await watch('first');
    const stop = await watch('stopped');
    stop();
    // A load that leaves the key in force.
    const unknown = await provider.sign({}, { kid: 'unknown' });
    const seen = provider.requests;
    while (provider.requests < seen + 4) {
      expect(() => verifier.verify(unknown)).toThrow(REJECTED);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ended).toEqual([]);
    await provider.rotate('second');
    const token = await provider.sign();
    await untilAccepted(() => verifier.verify(token));
    expect(ended).toEqual(['first']);
    await watch('second');
    // Another key with the same id.
    await provider.rotate('second');
    while (ended.length < 2) {
      expect(() => verifier.verify(unknown)).toThrow(REJECTED);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(ended).toEqual(['first', 'second']);
  });

  it('may have one id for keys of different types', async () => {
    const ecdsa = await provider.sign();
    const [published] = provider.keys;
    await provider.rotate('first', 'RS256');
    provider.keys = [published as JWK, ...provider.keys];
    const { verifier } = await open();
    for (const token of [ecdsa, await provider.sign()]) expect(verifier.verify(token)).toMatchObject({ userId: 'acme:bob' });
  });

  it('are waited for by a token that names a new one, and every token of them is loaded for once', async () => {
    const { verifier } = await open();
    await provider.rotate('second', 'RS256');
    const [seen, token] = [provider.requests, await provider.sign()];
    const callers = await Promise.all(Array.from({ length: 100 }, async () => verifier.verifyOrWait(token)));
    expect(callers).toHaveLength(100);
    expect(callers[99]).toMatchObject({ userId: 'acme:bob' });
    expect(provider.requests).toBe(seen + 2);
    expect(verifier.verifyOrWait(token)).not.toBeInstanceOf(Promise);
  });

  it('are waited for once by a token whose key does not exist, and not at all by one with another fault', async () => {
    const { verifier } = await open();
    const unknown = await provider.sign({}, { kid: 'unknown' });
    await expect((async () => verifier.verifyOrWait(unknown))()).rejects.toThrow(REJECTED);
    const expired = await provider.sign({ iat: 1, exp: 2 });
    for (const token of [expired, 'garbage', await provider.sign({ iss: 'https://evil.example' })])
      expect(() => verifier.verifyOrWait(token)).toThrow(REJECTED);
  });

  it('stay in force while the issuer fails or publishes nothing usable', async () => {
    const { verifier } = await open();
    const token = () => provider.sign();
    const refused = await provider.sign({}, { kid: 'unknown' });
    const before = provider.requests;
    for (const fault of [
      () => (provider.status = 503),
      () => ((provider.status = 200), (provider.keys = [{ kty: 'oct', k: 'AAAA', kid: 'first' }])),
    ]) {
      fault();
      const seen = provider.requests;
      while (provider.requests < seen + 2) {
        expect(() => verifier.verify(refused)).toThrow(REJECTED);
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(verifier.verify(await token())).toMatchObject({ userId: 'acme:bob' });
    }
    expect(provider.requests).toBeGreaterThan(before);
  });

  it('are not loaded by a discovery document of another issuer, or one that leads to an unprotected address elsewhere', async () => {
    for (const discovery of [
      { issuer: 'https://other.example', jwks_uri: `${provider.issuer}/keys` },
      { issuer: provider.issuer, jwks_uri: 'http://192.0.2.1/keys' },
      { issuer: provider.issuer },
    ]) {
      provider.discovery = discovery;
      const { verifier } = await open();
      const token = await provider.sign();
      expect(() => verifier.verify(token)).toThrow(REJECTED);
    }
  });
});
