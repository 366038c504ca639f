/** Two workers behind TLS with credentials: what one of them learns, and what one of them counts, holds for the other. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { type TestRedis, startTestRedis } from '@trestle/limits/test-redis';
import { decodeJwt } from 'jose';
import { type WebSocket, WebSocketServer } from 'ws';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { type Certificate, askHttps, beginHttp2, createCertificate, openHttp2, readHttp2 } from '../../stack/clients/tls-client.ts';

const SOURCES = { books: { sdl: 'type Query { title: String }', resolvers: { Query: { title: () => 'Emma' } } } };
const WORKERS = 2;
const LIMIT = 20;
/** Connections that reach both workers, which get them in turn. */
const CONNECTIONS = Array.from({ length: 8 });

const keys = generateTokenKeys();
const issuer = createTokenIssuer(keys);
/** The connections of the server that sends revocations, and how many messages were acknowledged. */
const watchers = new Set<WebSocket>();
let acknowledged = 0;

let folder: string;
let certificate: Certificate;
let revocations: WebSocketServer;
let redis: TestRedis | undefined;
let federation: Federation;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-secured-workers-'));
  certificate = await createCertificate(folder);
  const publicKeyFile = join(folder, 'public.pem');
  await writeFile(publicKeyFile, keys.publicKeyPem);
  revocations = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  revocations.on('connection', (socket) => {
    watchers.add(socket);
    socket.on('message', () => acknowledged++);
    socket.send(JSON.stringify({ number: 1, revoked: [] }));
  });
  await once(revocations, 'listening');
  redis = await startTestRedis();
  const env = {
    ...certificate.settings,
    TOKEN_PUBLIC_KEY_FILE: publicKeyFile,
    REVOCATIONS_URL: `http://127.0.0.1:${String((revocations.address() as AddressInfo).port)}/`,
    RATE_LIMIT_FREE_PER_MIN: String(LIMIT),
    ...(redis && { REDIS_URL: redis.url }),
  };
  federation = await startFederation(SOURCES, { env, args: ['--auth', 'on', '--workers', String(WORKERS)] });
  await until(() => Promise.resolve(federation.gateway.lines.join('\n').includes('all workers listen')));
});
afterAll(async () => {
  await federation.stop();
  for (const watcher of watchers) watcher.terminate();
  revocations.close();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

const toRequest = (token: string) => ({
  method: 'POST',
  path: '/graphql',
  headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
  body: '{"query":"{ title }"}',
});
const issue = (id: string) => issuer.issue(createTestGrant({ id })).token;

/** Sends requests at the same time, each on a connection of its own, and returns their statuses. */
const ask = (token: string, count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await askHttps(certificate, federation.gateway.port, toRequest(token))).status));

describe('two workers behind TLS', () => {
  it('serve HTTP/1.1 and HTTP/2', async () => {
    const token = issue('usr_protocols');
    expect(await ask(token, CONNECTIONS.length)).toEqual(CONNECTIONS.map(() => 200));
    const replies = await Promise.all(
      CONNECTIONS.map(async () => {
        const session = openHttp2(certificate, federation.gateway.port);
        const reply = await readHttp2(beginHttp2(session, toRequest(token)));
        session.close();
        return reply;
      }),
    );
    expect(replies.map(({ status, text }) => `${String(status)} ${text}`)).toEqual(CONNECTIONS.map(() => '200 {"data":{"title":"Emma"}}'));
  });

  it('refuse a token that was revoked, in every worker', async () => {
    const token = issue('usr_revoked');
    const { jti: tokenId, exp: expiresAt } = decodeJwt(token);
    expect(await ask(token, CONNECTIONS.length)).toEqual(CONNECTIONS.map(() => 200));
    expect(watchers.size).toBe(WORKERS);
    acknowledged = 0;
    const revoked = [{ userId: 'usr_revoked', tokenId, expiresAt }];
    for (const watcher of watchers) watcher.send(JSON.stringify({ number: 2, revoked }));
    await until(() => Promise.resolve(acknowledged === WORKERS));
    expect(await ask(token, CONNECTIONS.length)).toEqual(CONNECTIONS.map(() => 401));
    expect(await ask(issue('usr_other'), 2)).toEqual([200, 200]);
  });

  it('count the requests of an account together, in Redis where there is one', async () => {
    const token = issue('usr_counted');
    // A few at a time: on a busy machine a burst takes longer than the 500 ms after which a worker does not wait for Redis.
    const statuses: number[] = [];
    while (statuses.length < 2 * LIMIT) statuses.push(...(await ask(token, 4)));
    expect(statuses.filter((status) => status === 200)).toHaveLength(LIMIT);
    expect(statuses.filter((status) => status === 429)).toHaveLength(LIMIT);
    // Another gateway with the same Redis counts on.
    if (!redis) return;
    const other = await startFederation(SOURCES, {
      env: {
        ...certificate.settings,
        TOKEN_PUBLIC_KEY_FILE: join(folder, 'public.pem'),
        RATE_LIMIT_FREE_PER_MIN: String(LIMIT),
        REDIS_URL: redis.url,
      },
      args: ['--auth', 'on'],
    });
    const { status } = await askHttps(certificate, other.gateway.port, toRequest(token));
    await other.stop();
    expect(status).toBe(429);
  });
});
