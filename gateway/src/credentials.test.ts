/** The check of credentials by configuration, against a real issuer and a real exchange of API keys. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { type TestIssuer, startTestIssuer } from '@trestle/identity/verification/test-issuer';
import { createLog } from '@trestle/log';
import { Registry } from 'prom-client';
import { type GraphConfig, readConfig } from './config.ts';
import { createApiKeys, createVerifier } from './credentials.ts';

const log = createLog({ service: 'test', level: 'silent' });
const SENDER = { headers: [], reserve: () => () => undefined };
const closing: (() => unknown)[] = [];
let folder: string;
let issuer: TestIssuer;
let issuers: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-credentials-'));
  issuer = await startTestIssuer();
  issuers = join(folder, 'issuers.json');
  await writeFile(issuers, JSON.stringify({ issuers: [{ name: 'acme', issuer: issuer.issuer, audience: 'trestle-api' }] }));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
afterAll(async () => {
  await issuer.close();
  await rm(folder, { recursive: true });
});

async function open(auth: 'on' | 'off', env: Record<string, string>) {
  const { graphs } = await readConfig(['--auth', auth, '--supergraph', 'supergraph.graphql'], env);
  const [{ config }] = graphs as [GraphConfig];
  const metrics = new Registry();
  const verification = await createVerifier(config, { log, metrics });
  closing.push(() => {
    verification.stop();
  });
  return { config, metrics, verifier: verification.verifier };
}

it('accepts tokens of other issuers where there are no keys of our own', async () => {
  const { verifier } = await open('on', { TRUSTED_ISSUERS_FILE: issuers });
  expect(verifier?.verify(await issuer.sign({ sub: 'bob' }))).toMatchObject({ userId: 'acme:bob' });
  const own = await issuer.sign({ iss: 'trestle', aud: 'trestle-api', role: 'ADMIN', gen: 0 });
  expect(() => verifier?.verify(own)).toThrow('invalid, expired or revoked');
  await expect(readConfig(['--auth', 'on', '--supergraph', 'supergraph.graphql'], {})).rejects.toThrow(
    'TOKEN_PUBLIC_KEY_FILE: is required unless TOKEN_JWKS_URL or TRUSTED_ISSUERS_FILE is set',
  );
});

it('checks no credential where a supergraph is all that is given', async () => {
  const { graphs } = await readConfig(['--supergraph', 'supergraph.graphql'], {});
  expect(graphs[0]?.config).toMatchObject({ AUTH: false, isAuthDefaulted: true, hasRateLimits: false });
});

it.each([
  ['AUTH', 'on'],
  ['AUTH_REQUIRED', 'off'],
  ['REVOCATIONS_URL', 'http://127.0.0.1:9/revocations'],
  ['API_KEY_EXCHANGE_URL', 'http://127.0.0.1:9/exchange'],
  ['DENIED_FIELDS', 'refuse'],
  ['HOST', '0.0.0.0'],
])('does not start without keys where %s is set: the process may have lost them', async (name, value) => {
  await expect(readConfig(['--supergraph', 'supergraph.graphql'], { [name]: value })).rejects.toThrow(
    'TOKEN_PUBLIC_KEY_FILE: is required unless TOKEN_JWKS_URL or TRUSTED_ISSUERS_FILE is set',
  );
});

it('checks no credential with authentication off, also where keys are configured', async () => {
  const env = { TRUSTED_ISSUERS_FILE: issuers, TOKEN_JWKS_URL: `${issuer.issuer}/keys` };
  expect((await open('off', env)).verifier).toBeUndefined();
  expect((await open('on', env)).verifier).toBeDefined();
});

it('exchanges API keys of any form where no token is of ours', async () => {
  const received: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push(new URLSearchParams(Buffer.concat(chunks).toString()).get('subject_token') ?? '');
      void issuer.sign({ sub: 'app' }).then((token) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify({ access_token: token, expires_in: 600 }));
      });
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/exchange`;
  const { config, metrics, verifier } = await open('on', { TRUSTED_ISSUERS_FILE: issuers, API_KEY_EXCHANGE_URL: url });
  const keys = createApiKeys(config, { verifier, metrics });
  closing.push(() => keys?.close());
  const token = await keys?.tokenFor({ value: 'sk_live_1', isInUrl: false }, SENDER);
  expect(verifier?.verify(token ?? '')).toMatchObject({ userId: 'acme:app' });
  expect(() => keys?.tokenFor({ value: 'x'.repeat(513), isInUrl: false }, SENDER)).toThrow('invalid, expired or revoked');
  expect(received).toEqual(['sk_live_1']);
});
