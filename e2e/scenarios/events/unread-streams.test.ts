/** Clients of `GET /v1/events` over HTTP/1.1 that never read: they are cut, cost little memory, and delay nobody (contract §4). */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { type Socket, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readMetric, until } from '../../stack/clients/client.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { type EventsClient, readEvents } from './events-client.ts';

const MIB = 1024 * 1024;
/** An account has at most ten streams at a bridge. */
const ACCOUNTS = 20;
const STREAMS = 10;
const READERS = ACCOUNTS * STREAMS;
const WRITE_TIMEOUT_MS = 2000;
/** Real events are 400 bytes. The kernel takes about 4 MB for each client of this machine before the bridge notices that none is read. */
const PADDING = 'x'.repeat(64 * 1024);
const BATCH = 4;
const MAX_EVENTS = 400;
const MAX_RISE_OF_READER = 2 * MIB;

let stack: Stack;
let ada: Account;
let client: EventsClient;
const sockets: Socket[] = [];
beforeAll(async () => {
  stack = await startStack({ env: { WRITE_TIMEOUT_MS: String(WRITE_TIMEOUT_MS) } });
  ada = await stack.createAccount('Ada');
  client = readEvents({ url: `${stack.rest}/v1/events?type=message.*`, token: ada.token });
  await client.opened;
});
afterAll(async () => {
  client.close();
  for (const socket of sockets) socket.destroy();
  await stack.stop();
});

/** Opens a stream, and reads nothing behind its head. */
async function openUnread({ token }: Account): Promise<void> {
  const { hostname, port } = new URL(stack.rest);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  sockets.push(socket);
  socket.write(`GET /v1/events?type=message.* HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  socket.pause();
  expect(head.toString()).toMatch(/^HTTP\/1\.1 200 /);
}

let written = 0;
/** Writes events, and waits until the client that reads has received them. */
async function writeEvents(): Promise<void> {
  await stack.sql(
    'content',
    `INSERT INTO outbox_current (position, id, type, subject, "ownerId", audience, data, "createdAt")
     SELECT next_outbox_position(), create_event_id(now()), 'message.added', 'msg_' || n, NULL, 'USER', jsonb_build_object('channelId', $1::text), now()
     FROM generate_series(1, $2::int) n`,
    [PADDING, BATCH],
  );
  written += BATCH;
  await until(() => Promise.resolve(client.events.length >= written));
}

/** Returns the resident memory of each gateway and bridge, in bytes. */
const readMemory = () =>
  Promise.all(
    stack.edge.map(async ({ pid }) => 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${String(pid)}/status`, 'utf8'))?.[1])),
  );
/** Returns how many clients all bridges have cut. The metric is absent before the first one. */
async function cut(): Promise<number> {
  const counts = await Promise.all(
    stack.nodes.map(({ bridge }) => readMetric(bridge.url, 'trestle_connections_cut_total{cause="slow reader"}')),
  );
  return counts.reduce((sum, count) => sum + (count || 0), 0);
}

it('cuts each client that reads nothing, within bounded memory, while another one receives every event', async () => {
  for (let account = 0; account < ACCOUNTS; account++) {
    const owner = await stack.createAccount(`Reader ${String(account)}`);
    await Promise.all(Array.from({ length: STREAMS }, () => openUnread(owner)));
  }
  const before = await readMemory();
  const most = [...before];
  while ((await cut()) < READERS && written < MAX_EVENTS) {
    await writeEvents();
    (await readMemory()).forEach((bytes, i) => (most[i] = Math.max(most[i] ?? 0, bytes)));
  }
  const rises = most.map((bytes, i) => bytes - (before[i] ?? 0));
  await until(async () => (await cut()) === READERS);
  for (const rise of rises) expect(rise).toBeLessThan(READERS * MAX_RISE_OF_READER);
  expect(new Set(client.events.map(({ id }) => id)).size).toBe(written);
  expect(client.connections).toBe(1);
}, 300_000);
