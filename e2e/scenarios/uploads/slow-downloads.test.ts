/** Clients that read the content of videos slowly: what they may not keep other requests from (docs/security.md). */
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { toWebm } from '../../stack/clients/multipart.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';

/** More than the buffers of the connections on the way take. */
const SIZE = 16_000_000;
/** More connections than a bridge has to the subgraph, so that without a limit one client would have all of them. */
const MANY = 600;
/** How many downloads of one client are in progress at once, and how many more of them wait. */
const PLACES_OF_CLIENT = 64;
const WAITING_OF_CLIENT = 128;
/** The bridge's requests to other processes end after this time, and so does the wait for a place. */
const TIMEOUT_MS = 8000;
const SLOW = { 'x-forwarded-for': '203.0.113.1' };
const OTHER = { 'x-forwarded-for': '198.51.100.1' };

let stack: LeasedStack;
let ada: Account;
let bridge: RunningProcess;
let content: string;
let sockets: Socket[] = [];
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  const uploaded = await fetch(`${stack.rest}/v1/videos?title=Long`, {
    method: 'POST',
    headers: { 'content-type': 'video/webm', authorization: `Bearer ${ada.token}` },
    body: Uint8Array.from(toWebm(SIZE)),
  });
  const { id } = (await uploaded.json()) as { id: string };
  await stack.sql('content', `UPDATE videos SET status = 'PUBLISHED' WHERE id = $1`, [id]);
  content = `/v1/videos/${id}/content`;
});
afterAll(async () => {
  leave();
  await stack.stop();
});

/** Starts a bridge that waits for clients that read nothing for as long as the test takes. */
async function startBridge(env: Readonly<Record<string, string>> = {}): Promise<void> {
  leave();
  bridge = await stack.startBridge({ WRITE_TIMEOUT_MS: '600000', TRUSTED_PROXIES: '127.0.0.1', MAX_EVENT_LOOP_DELAY_MS: '60000', ...env });
}

/** Disconnects all clients. */
function leave(): void {
  for (const socket of sockets) socket.destroy();
  sockets = [];
}

/** Sends a request for the whole video, and reads the head of the response alone. Resolves with it, or with the whole of a small response. */
async function downloadSlowly(): Promise<string> {
  const socket = connect({ port: bridge.port, host: '127.0.0.1' });
  socket.on('error', () => undefined);
  sockets.push(socket);
  socket.write(`GET ${content} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${SLOW['x-forwarded-for']}\r\n\r\n`);
  await once(socket, 'readable');
  return ((socket.read(1000) ?? socket.read()) as Buffer).toString('latin1');
}

const get = (path: string, headers: Readonly<Record<string, string>>) => request(`${bridge.url}${path}`, { method: 'GET', headers });
const getByte = (headers: Readonly<Record<string, string>>) => get(content, { range: 'bytes=0-0', ...headers });
const statusOf = (head: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]);

describe('clients that read downloads slowly', () => {
  it('take none of the places of MAX_IN_FLIGHT', async () => {
    await startBridge({ MAX_IN_FLIGHT: '2' });
    const heads = [await downloadSlowly(), await downloadSlowly(), await downloadSlowly()];
    expect(heads.map(statusOf)).toEqual([200, 200, 200]);
    expect((await get('/v1/products', OTHER)).status).toBe(200);
  });

  it('keep neither downloads of other clients nor uploads from being served', async () => {
    await startBridge({ GATEWAY_TIMEOUT_MS: String(TIMEOUT_MS) });
    const begun = Array.from({ length: MANY }, downloadSlowly);
    const heads: string[] = [];
    for (const each of begun) void each.then((head) => heads.push(head));
    await until(() => Promise.resolve(heads.length >= PLACES_OF_CLIENT));
    expect((await getByte(OTHER)).status).toBe(206);
    const upload = await request(`${bridge.url}/v1/uploads`, { method: 'POST', token: ada.token, body: { title: 'Other', size: 100 } });
    const part = { 'content-type': 'application/offset+octet-stream', 'tus-resumable': '1.0.0', 'upload-offset': '0', ...OTHER };
    const path = String(upload.headers.get('location'));
    const sent = await request(`${bridge.url}${path}`, { method: 'PATCH', token: ada.token, headers: part, body: 'x'.repeat(50) });
    expect([upload.status, sent.status]).toEqual([201, 204]);
    // What waits is refused in time, and says when to ask again.
    await until(() => Promise.resolve(heads.length === MANY));
    expect(heads.map(statusOf).filter((status) => status === 200)).toHaveLength(PLACES_OF_CLIENT);
    for (const head of heads.filter((each) => statusOf(each) !== 200))
      expect(head).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: \d+\r\n[\s\S]*SERVICE_UNAVAILABLE/i);
    leave();
    await until(async () => (await getByte(SLOW)).status === 206);
  });

  it('leave no waiting requests behind when they disconnect', async () => {
    await startBridge({ GATEWAY_TIMEOUT_MS: '60000' });
    await Promise.all(Array.from({ length: PLACES_OF_CLIENT }, downloadSlowly));
    // One more than may wait is refused at once, so that all others have arrived.
    const waiting = Array.from({ length: WAITING_OF_CLIENT + 1 }, downloadSlowly);
    expect(statusOf(await Promise.race(waiting))).toBe(503);
    for (const socket of sockets.slice(PLACES_OF_CLIENT)) socket.destroy();
    // A place of the client is free, and what has left does not take it.
    sockets[0]?.destroy();
    await until(async () => (await getByte(SLOW)).status === 206);
  });
});
