/** Clients that send or read too slowly, or open too many connections, over HTTP/1.1. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { type Service, startService } from '../service.ts';
import type { TrafficLimits } from '../settings.ts';

const log = createLog({ service: 'test', level: 'silent' });
const LARGE = Buffer.alloc(8 * 1024 * 1024, 'x');
let service: Service | undefined;
const sockets: Socket[] = [];
let responses: ServerResponse[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  responses = [];
  await service?.stop();
});

/** `/large` is 8 MiB; all else is answered once its body has come. */
async function start(limits: Partial<TrafficLimits>): Promise<void> {
  service = await startService({
    log,
    port: 0,
    host: '127.0.0.1',
    probes: createProbes({ isReady: () => true }),
    limits,
    handle: (request, response) => {
      responses.push(response);
      if (request.url === '/large') response.writeHead(200, { 'content-length': LARGE.length }).end(LARGE);
      else request.resume().once('end', () => response.end('served'));
    },
  });
}

function open(text = ''): Socket {
  const socket = connect(service?.port ?? 0, '127.0.0.1');
  sockets.push(socket.on('error', () => undefined));
  if (text !== '') socket.write(text);
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.resume();
  if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  return text;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}

const post = (length: number) => `POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${String(length)}\r\n\r\n`;

describe('a request body', () => {
  it('is answered 408 when it arrives more slowly than the minimum rate, before the request timeout (RFC 9110 §15.5.9)', async () => {
    await start({ bodyGraceMs: 400, minBodyBytesPerSecond: 1000 });
    const socket = open(post(100_000));
    const drip = setInterval(() => socket.write('a'), 20);
    const text = await readAll(socket);
    clearInterval(drip);
    expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*REQUEST_TIMEOUT/);
  });

  it('is accepted above the minimum rate, however long it takes', async () => {
    await start({ bodyGraceMs: 400, minBodyBytesPerSecond: 10 });
    const socket = open(post(40_000));
    const answer = readAll(socket);
    for (let i = 0; i < 40; i++) {
      socket.write('a'.repeat(1000));
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect(await answer).toMatch(/served/);
  });

  it('is refused when unfinished bodies hold too many bytes together, the slowest first', async () => {
    await start({ maxReceivingBytes: 4 * 1024 * 1024 });
    const stalled = Array.from({ length: 8 }, () => open(post(2 * 1024 * 1024)));
    const answers = stalled.map(readAll);
    for (const socket of stalled) socket.write(LARGE.subarray(0, 1024 * 1024));
    const refused = await Promise.race(answers);
    expect(refused).toMatch(/^HTTP\/1\.1 408 /);
    await until(() => responses.filter(({ destroyed }) => !destroyed).length <= 4);
  });
});

describe('a response', () => {
  it('is cut when its client reads no byte of it for the write timeout', async () => {
    await start({ writeTimeoutMs: 400 });
    const socket = open('GET /large HTTP/1.1\r\nHost: a\r\n\r\n').pause();
    await until(() => responses.length === 1);
    const [response] = responses as [ServerResponse];
    if (!response.closed) await once(response, 'close');
    expect((await readAll(socket)).length).toBeLessThan(LARGE.length);
  });

  it('is cut when its client sends bytes and reads none', async () => {
    await start({ writeTimeoutMs: 400 });
    const socket = open('GET /large HTTP/1.1\r\nHost: a\r\n\r\n').pause();
    const drip = setInterval(() => socket.write('G'), 20);
    await until(() => responses.length === 1);
    const [response] = responses as [ServerResponse];
    if (!response.closed) await once(response, 'close');
    clearInterval(drip);
    expect((await readAll(socket)).length).toBeLessThan(LARGE.length);
  });

  it('is sent whole to a client that reads slowly but steadily', async () => {
    await start({ writeTimeoutMs: 1000 });
    const socket = open('GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let received = 0;
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length;
      socket.pause();
      setTimeout(() => socket.resume(), 15);
    });
    await once(socket, 'close');
    expect(received).toBeGreaterThan(LARGE.length);
  });

  it('is cut before its timeout when the bytes to send exceed the limit of the process', async () => {
    await start({ writeTimeoutMs: 60_000, maxSendingBytes: 20 * 1024 * 1024 });
    for (let i = 0; i < 6; i++) open('GET /large HTTP/1.1\r\nHost: a\r\n\r\n').pause();
    const waiting = () => responses.reduce((sum, { destroyed, writableLength }) => sum + (destroyed ? 0 : writableLength), 0);
    // The last response may begin after the others have been cut.
    await until(() => responses.length === 6 && waiting() <= 20 * 1024 * 1024);
    expect(waiting()).toBeGreaterThan(0);
  });
});

it('closes connections beyond the limit of one address, and accepts new ones once others have closed', async () => {
  await start({ maxConnectionsPerAddress: 3 });
  const first = [open(), open(), open()];
  await Promise.all(first.map((socket) => once(socket, 'connect')));
  const refused = open(post(0));
  expect(await readAll(refused)).toBe('');
  first[0]?.destroy();
  let text = '';
  while (text === '') text = await readAll(open(post(0)));
  expect(text).toContain('served');
});
