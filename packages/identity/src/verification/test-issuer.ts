/** An OpenID provider for tests: a real HTTP server with keys of its own, which signs with another library. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, type JWK, type JWTPayload, SignJWT, exportJWK, generateKeyPair } from 'jose';

/** A provider that runs. */
export interface TestIssuer {
  readonly issuer: string;
  /** The keys that it publishes. */
  keys: JWK[];
  /** Its discovery document, or a function that answers in its place. */
  discovery: object;
  /** Answers every request with this status while it is not 200. */
  status: number;
  /** How many requests it has answered. */
  requests: number;
  /** Replaces its key: publishes the new one only, and signs with it. */
  rotate(kid: string, algorithm?: string): Promise<void>;
  /** Signs a token, with changes of claims and headers. */
  sign(claims?: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

/** Starts a provider on a free port of the loopback address. */
export async function startTestIssuer(): Promise<TestIssuer> {
  let signer: { readonly key: CryptoKey; readonly kid: string; readonly algorithm: string };
  const server = createServer((request, response) => {
    provider.requests++;
    const body = request.url === '/keys' ? { keys: provider.keys } : provider.discovery;
    const isKnown = request.url === '/keys' || request.url === '/.well-known/openid-configuration';
    const status = isKnown ? provider.status : 404;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? JSON.stringify(body) : '{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const provider: TestIssuer = {
    issuer,
    keys: [],
    discovery: { issuer, jwks_uri: `${issuer}/keys` },
    status: 200,
    requests: 0,
    async rotate(kid, algorithm = 'ES256') {
      const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true });
      signer = { key: privateKey, kid, algorithm };
      provider.keys = [{ ...(await exportJWK(publicKey)), kid, use: 'sig', alg: algorithm }];
    },
    sign(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const payload = { iss: issuer, aud: 'trestle-api', sub: 'bob', jti: crypto.randomUUID(), iat: now, exp: now + 600, ...claims };
      const { key, kid, algorithm } = signer;
      return new SignJWT(payload).setProtectedHeader({ alg: algorithm, typ: 'at+jwt', kid, ...header }).sign(key);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  await provider.rotate('first');
  return provider;
}
