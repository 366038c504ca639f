import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createRegistrySource } from './registry-source.ts';
import { type TestServer, startTestServer } from './test-server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer((response) => response.writeHead(404).end('{}'));
});
afterAll(() => server.stop());

it.each([
  [undefined, 'there is no environment `stage` with a release'],
  ['partners', 'there is no environment `stage` with a release, or it has no contract `partners`'],
])('says what the registry lacks when it responds with 404, for the contract %s', async (contract, meaning) => {
  const { publicKey } = generateKeyPairSync('ed25519');
  const limits = { timeoutMs: 5000, maxBytes: 1024 };
  const source = createRegistrySource({ url: server.url, environment: 'stage', contract, token: 't', publicKey, ...limits });
  const path = `/environments/stage${contract === undefined ? '' : '/contracts/partners'}/artifact`;
  await expect(source.read(new AbortController().signal)).rejects.toThrow(
    new Error(`${server.url}${path}: responded with the status 404: ${meaning}`),
  );
});
