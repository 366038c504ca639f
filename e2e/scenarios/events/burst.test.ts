/** A burst of events: `GET /v1/events` keeps the order of each resource, and webhooks get every event (contract §4, ADR 24, ADR 25). */
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { ClientHttp2Session } from 'node:http2';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type Certificate, askHttps, beginHttp2, createCertificate, openHttp2 } from '../../stack/clients/tls-client.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { type Receiver, startReceiver } from '../webhooks/receiver.ts';
import { type EventsClient, type ReceivedEvent, readEvents } from './events-client.ts';

const POSTS = 100;
/** The last version of each post. The first one is two events: it is created published. */
const VERSIONS = 99;
const EVENTS = POSTS * (VERSIONS + 1);
/** The events of the burst are 4 MB on the wire. What is beyond is the heap of a process that was just started. */
const MAX_RISE_BYTES = 64 * 1024 * 1024;
const COMMENTS = 10;
const COMMENT_VERSIONS = 30;

let stack: Stack;
let ada: Account;
let receiver: Receiver;
let client: EventsClient;
let home: string;
let certificate: Certificate;
/** A bridge that waits a second for a client that reads nothing, rather than ten. */
let bridge: RunningProcess;
let session: ClientHttp2Session;
beforeAll(async () => {
  stack = await startStack({ env: { WEBHOOK_ALLOW_PRIVATE: 'on' } });
  ada = await stack.createAccount('Ada');
  receiver = await startReceiver();
  home = await mkdtemp(join(tmpdir(), 'trestle-burst-'));
  certificate = await createCertificate(home);
  bridge = await stack.startBridge({ ...certificate.settings, WRITE_TIMEOUT_MS: '1000' });
});
afterAll(async () => {
  client.close();
  session.close();
  await receiver.close();
  await stack.stop();
  await rm(home, { recursive: true });
});

const named = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}${String(i)}`);
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1);
const versionsOf = (events: readonly Pick<ReceivedEvent, 'subject' | 'data'>[], subject: string) =>
  events.filter((event) => event.subject === subject).map(({ data }) => data['version']);

/**
 * Opens a stream and reads nothing of it. Of an HTTP/2 stream the client then accepts 64 KiB; of a connection of its own the kernel would take
 * several megabytes before the bridge notices.
 */
async function openStalled(): Promise<void> {
  session = openHttp2(certificate, bridge.port);
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${ada.token}` };
  const stream = beginHttp2(session, { path: '/v1/events?type=post.*', headers });
  stream.on('error', () => undefined);
  await once(stream, 'response');
}

/** Returns the resident memory of that bridge, in bytes. */
async function readMemory(): Promise<number> {
  const status = await readFile(`/proc/${String(bridge.pid)}/status`, 'utf8');
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]);
}

/** Writes the changes, about 900 in a transaction. */
async function writeBurst(): Promise<void> {
  await stack.sql(
    'content',
    `INSERT INTO posts (id, "authorId", title, status) SELECT id, $2, 'T', 'PUBLISHED' FROM unnest($1::text[]) id`,
    [named('pst_burst', POSTS), ada.id],
  );
  await stack.sql(
    'content',
    `INSERT INTO comments (id, "postId", "authorId", body) SELECT id, 'pst_burst0', $2, 'B' FROM unnest($1::text[]) id`,
    [named('cmt_burst', COMMENTS), ada.id],
  );
  for (let version = 1; version < VERSIONS; version += 9)
    await stack.sql(
      'content',
      `DO $$ BEGIN FOR i IN ${String(version)}..${String(Math.min(version + 8, VERSIONS - 1))} LOOP
         UPDATE posts SET version = posts.version + 1 WHERE id LIKE 'pst_burst%';
         IF i < ${String(COMMENT_VERSIONS)} THEN
           UPDATE comments SET version = comments.version + 1 WHERE id LIKE 'cmt_burst%';
         END IF;
       END LOOP; END $$`,
    );
}

describe('a burst of 10,000 events', () => {
  it('reaches a stream once, in the order of each resource, and a webhook completely', async () => {
    const webhook = { name: 'Comments', url: receiver.url, types: ['comment.*'] };
    expect((await stack.call('POST', '/v1/webhooks', { token: ada.token, body: webhook })).status).toBe(201);
    client = readEvents({ url: `${stack.rest}/v1/events?type=post.*`, token: ada.token });
    await client.opened;
    await openStalled();
    const before = await readMemory();
    await writeBurst();
    await until(() => Promise.resolve(client.events.length >= EVENTS));
    expect(new Set(client.events.map(({ id }) => id)).size).toBe(EVENTS);
    for (const post of named('pst_burst', POSTS)) expect(versionsOf(client.events, post)).toEqual([1, ...upTo(VERSIONS)]);
    expect((await readMemory()) - before).toBeLessThan(MAX_RISE_BYTES);
    const deliveries = COMMENTS * COMMENT_VERSIONS;
    await until(() => Promise.resolve(receiver.arrivals.length >= deliveries));
    expect(new Set(receiver.arrivals.map(({ id }) => id)).size).toBe(deliveries);
    const arrived = receiver.arrivals.map(({ event }) => event as unknown as ReceivedEvent);
    for (const comment of named('cmt_burst', COMMENTS))
      expect(versionsOf(arrived, comment).sort((a, b) => Number(a) - Number(b))).toEqual(upTo(COMMENT_VERSIONS));
  });

  it('is cut off from a client that reads nothing, while other clients receive it', async () => {
    const cut = /^trestle_connections_cut_total\{cause="slow reader"\} 1$/m;
    await until(async () => cut.test((await askHttps(certificate, bridge.port, { path: '/metrics' })).text));
  });
});
