/** What the bridge does for a client that reads none of its responses (docs/security.md). */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type Stack, startStack } from '../../stack/stack.ts';
import { type Certificate, beginHttp2, createCertificate, readHttp2 } from '../../stack/clients/tls-client.ts';

const POSTS = 100;
/** A list of them takes more than 100 kB, so that 8 MiB are 80 of such lists. */
const BODY_CHARACTERS = 1000;
const SESSIONS = 2;
const STREAMS = 120;
/** As many are sent at once, each of which counts as 64 KiB until it is received; later ones begin ten times a second. */
const MOST_AT_ONCE = 128;
const LATER_PER_SECOND = 10;
/** How long a request may take on a machine that does much else. */
const BUSY_MS = '60000';
const WINDOW_BYTES = 16 * 1024 * 1024;

let stack: Stack;
let home: string;
let certificate: Certificate;
/** A bridge that waits for clients that read nothing for as long as the test takes. */
let bridge: RunningProcess;
beforeAll(async () => {
  const env = { DATABASE_STATEMENT_TIMEOUT_MS: BUSY_MS, DATABASE_CONNECT_TIMEOUT_MS: BUSY_MS };
  stack = await startStack({ env, gatewayEnv: { SUBGRAPH_TIMEOUT_MS: BUSY_MS } });
  const ada = await stack.createAccount('Ada');
  await stack.sql(
    'content',
    `INSERT INTO posts (id, "authorId", title, body, status)
     SELECT 'pst_unread' || n, $1, 'T', repeat('x', $2), 'PUBLISHED' FROM generate_series(1, $3) n`,
    [ada.id, BODY_CHARACTERS, POSTS],
  );
  home = await mkdtemp(join(tmpdir(), 'trestle-unread-'));
  certificate = await createCertificate(home);
  bridge = await stack.startBridge({
    ...certificate.settings,
    WRITE_TIMEOUT_MS: '120000',
    GATEWAY_TIMEOUT_MS: BUSY_MS,
    RATE_LIMIT_ANONYMOUS_PER_MIN: '100000',
  });
});
afterAll(async () => {
  await stack.stop();
  await rm(home, { recursive: true });
});

/** Opens a session in which the bridge may send nothing but headers. */
async function openClosedWindows(): Promise<ClientHttp2Session> {
  const session = connect(`https://localhost:${String(bridge.port)}`, { ca: certificate.cert, settings: { initialWindowSize: 0 } });
  session.on('error', () => undefined);
  await once(session, 'remoteSettings');
  return session;
}

/** Returns how many requests the gateway has answered. */
async function countGatewayRequests(): Promise<number> {
  const { text } = await request(`${new URL(stack.gateway).origin}/metrics`, { method: 'GET' });
  const counts = text.split('\n').filter((line) => line.startsWith('trestle_graphql_request_duration_seconds_count'));
  return counts.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

/** Sends a request from another address, which makes it another client. */
async function askAsAnother(): Promise<number> {
  const asked = httpsRequest({
    ...{ host: 'localhost', port: bridge.port, path: '/v1/products?limit=1', ca: certificate.cert },
    ...{ agent: false, localAddress: '127.0.0.2', family: 4 },
  });
  asked.end();
  const [response] = (await once(asked, 'response')) as [NodeJS.ReadableStream & { statusCode: number }];
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}

it('sends no more requests of a client to the gateway while 8 MiB of its responses are unread, and all of them once it reads', async () => {
  const before = await countGatewayRequests();
  const startedAt = performance.now();
  const sessions = await Promise.all(Array.from({ length: SESSIONS }, openClosedWindows));
  const streams: ClientHttp2Stream[] = sessions.flatMap((session) =>
    Array.from({ length: STREAMS }, () => beginHttp2(session, { path: '/v1/posts?limit=100' })),
  );
  const replies = streams.map(readHttp2);
  // The gateway has answered all that the bridge sends at once.
  const inFlight = () => readMetric(new URL(stack.gateway).origin, 'trestle_graphql_requests_in_flight');
  await until(async () => (await countGatewayRequests()) - before >= 40 && (await inFlight()) === 0);
  expect(await askAsAnother()).toBe(200);
  const sent = (await countGatewayRequests()) - before;
  // One more is that of the other client.
  expect(sent).toBeLessThanOrEqual(1 + MOST_AT_ONCE + ((performance.now() - startedAt) / 1000) * LATER_PER_SECOND);
  for (const session of sessions) {
    session.settings({ initialWindowSize: WINDOW_BYTES });
    session.setLocalWindowSize(WINDOW_BYTES);
  }
  const received = await Promise.all(replies);
  expect(new Set(received.map(({ status }) => status))).toEqual(new Set([200]));
  expect(Math.min(...received.map(({ text }) => text.length))).toBeGreaterThan(POSTS * BODY_CHARACTERS);
  expect((await countGatewayRequests()) - before).toBeGreaterThanOrEqual(SESSIONS * STREAMS);
  for (const session of sessions) session.close();
});
