/** Clients that send and never read: the data buffered for each and for all together is bounded, and their connections are closed. */
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { COLLECT_GARBAGE } from '../../stack/processes/process.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { createHarbours } from '../../stack/federation/harbours.ts';

const MEGABYTE = 1_000_000;
/** The bound of the process in these tests; and how much memory outside of the heap it may grow by. */
const TOTAL = 16 * MEGABYTE;
const GROWTH = 40 * MEGABYTE;
const QUERY = '{ ships { name } }';

const harbours = createHarbours();
let federation: Federation;
beforeAll(async () => {
  const env = {
    SLOW_CONSUMER_TIMEOUT_MS: '2000',
    SLOW_CONSUMER_TOTAL_BYTES: String(TOTAL),
    // A socket that has read everything answers no ping, and is closed for that.
    PING_INTERVAL_MS: '8000',
    NODE_OPTIONS: COLLECT_GARBAGE.join(' '),
  };
  federation = await startFederation(harbours.sources, { env });
  federation.intercept = () => ({ data: { ships: [{ name: 'x'.repeat(8 * MEGABYTE) }] } });
});
afterAll(() => federation.stop());

const metric = (name: string) => readMetric(federation.gateway.url, name);
const memory = () => metric('nodejs_external_memory_bytes');
const expectGrowth = (before: number) => until(async () => (await memory()) - before < GROWTH);

/** Opens a connection that writes and never reads. */
const openUnread = async (head: string): Promise<Socket> => {
  const { hostname, port } = new URL(federation.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  socket.write(head);
  return socket;
};

const HANDSHAKE = [
  'GET /graphql HTTP/1.1',
  'Host: a',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: graphql-transport-ws',
  '\r\n',
].join('\r\n');

/** A frame of a client with a mask of zeros (RFC 6455 §5.2). */
const frame = (opcode: number, text: string): Buffer => {
  const payload = Buffer.from(text);
  const head = Buffer.alloc(payload.length < 126 ? 6 : 14);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | Math.min(payload.length, 127);
  if (payload.length >= 126) head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
};
const TEXT = 1;
const PING = 9;

const listen = () => {
  const body = JSON.stringify({ query: QUERY });
  return `POST /graphql HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`;
};

/** Writes the bytes repeatedly until the gateway accepts no more or closes the connection. Returns how many bytes it accepted. */
const flood = async (socket: Socket, bytes: Buffer, limit: number): Promise<number> => {
  let sent = 0;
  while (sent < limit && !socket.destroyed) {
    sent += bytes.length;
    if (!socket.write(bytes)) await Promise.race(['drain', 'close'].map((event) => new Promise((resolve) => socket.once(event, resolve))));
  }
  return sent;
};

const closed = (sockets: readonly Socket[]) => until(() => Promise.resolve(sockets.every(({ destroyed }) => destroyed)));
/** A client that does not read learns of the close when it reads. */
const expectCut = async (sockets: readonly Socket[]) => {
  for (const socket of sockets) socket.resume();
  await closed(sockets);
  await until(async () => (await metric('trestle_send_buffer_bytes')) === 0);
  expect((await request(federation.url, { method: 'POST', body: { query: '{ __typename }' } })).status).toBe(200);
};

describe('a gateway whose clients do not read', () => {
  it('counts pongs of a megabyte with their frames in the limit of buffered bytes', async () => {
    const before = await memory();
    const sockets = await Promise.all(Array.from({ length: 5 }, () => openUnread(HANDSHAKE)));
    const ping = frame(TEXT, JSON.stringify({ type: 'ping', payload: { padding: 'x'.repeat(MEGABYTE - 100) } }));
    await Promise.all(sockets.map((socket) => flood(socket, ping, 12 * MEGABYTE)));
    expect(await metric('trestle_send_buffer_bytes')).toBeLessThanOrEqual(TOTAL);
    await expectGrowth(before);
    await expectCut(sockets);
  });

  // RFC 6455 §5.5.3: an endpoint may answer only the most recent of several pings.
  it('answers ping frames once while no pong is read', async () => {
    const before = await memory();
    const socket = await openUnread(HANDSHAKE);
    socket.write(frame(TEXT, '{"type":"connection_init"}'));
    const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame(PING, 'x'.repeat(125))));
    // Each would wait with 127 bytes.
    expect(await flood(socket, pings, 24 * MEGABYTE)).toBeGreaterThan(10 * MEGABYTE);
    await expectGrowth(before);
    socket.destroy();
  });

  it.each([
    ['WebSockets', HANDSHAKE],
    ['event streams', listen()],
  ])('bounds unread results of 8 MB over %s in total, and closes each connection', async (_, head) => {
    const before = await memory();
    const known = federation.received.length;
    const sockets: Socket[] = [];
    for (let n = 0; n < 6; n++) {
      const socket = await openUnread(head);
      sockets.push(socket);
      if (head === HANDSHAKE) {
        socket.write(frame(TEXT, '{"type":"connection_init"}'));
        socket.write(frame(TEXT, JSON.stringify({ id: '1', type: 'subscribe', payload: { query: QUERY } })));
      }
      await until(() => Promise.resolve(federation.received.length > known + n));
    }
    await until(async () => (await metric('trestle_send_buffer_bytes')) > 0);
    expect(await metric('trestle_send_buffer_bytes')).toBeLessThanOrEqual(TOTAL);
    await expectGrowth(before);
    await expectCut(sockets);
  });

  it('bounds results for an event stream that was reserved and is not opened, and invalidates its token', async () => {
    const { text: token } = await request(federation.url, { method: 'PUT' });
    const join = (n: number) => {
      const headers = { 'x-graphql-event-stream-token': token };
      return request(federation.url, { method: 'POST', body: { query: QUERY, extensions: { operationId: String(n) } }, headers });
    };
    // More than may wait for one client.
    expect((await join(1)).status).toBe(202);
    expect((await join(2)).status).toBe(404);
    expect(await metric('trestle_send_buffer_bytes')).toBe(0);
  });
});
