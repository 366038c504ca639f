/** What only a slow or strange client sees of a port that speaks TLS; the rest is tried in e2e/scenarios/gateway-tls. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, connect as connectHttp2, constants } from 'node:http2';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { generate } from 'selfsigned';
import { createProbes } from './probes.ts';
import { type Service, startService } from './service.ts';

let service: Service;
let cert: string;
let handled: { request: IncomingMessage; events: string[] }[] = [];
beforeAll(async () => {
  const pair = await generate([{ name: 'commonName', value: 'localhost' }], { keyType: 'ec', algorithm: 'sha256' });
  cert = pair.cert;
  service = await startService({
    log: createLog({ service: 'test', level: 'silent' }),
    port: 0,
    host: '127.0.0.1',
    tls: { cert, key: pair.private },
    probes: createProbes({ isReady: () => true }),
    headersTimeoutMs: 2000,
    requestTimeoutMs: 2500,
    keepAliveTimeoutMs: 300,
    handle: (request, response) => {
      const events: string[] = [];
      handled.push({ request, events });
      request.resume();
      for (const event of ['end', 'close']) request.on(event, () => events.push(event));
      if (request.url === '/early') response.writeHead(413, ['content-length', '0', 'connection', 'close']).end();
      else request.on('end', () => response.writeHead(200, { 'keep-alive': 'timeout=5', 'x-own': ['a', 'b'] }).end(request.headers.host));
    },
  });
});
afterAll(() => service.stop());

async function withSession<T>(act: (session: ClientHttp2Session) => Promise<T>): Promise<T> {
  handled = [];
  const session = connectHttp2(`https://localhost:${String(service.port)}`, { ca: cert });
  session.on('error', () => undefined);
  try {
    return await act(session);
  } finally {
    session.destroy();
  }
}
const post = (session: ClientHttp2Session, path = '/') => session.request({ ':method': 'POST', ':path': path }, { endStream: false });
async function read(stream: ClientHttp2Stream): Promise<{ headers: IncomingHttpHeaders & { ':status'?: number }; text: string }> {
  const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  let text = '';
  stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  // Not by iterating, which takes a reset after the answer for a failure.
  await once(stream, 'close');
  return { headers, text };
}

it('hides from the client what speaks of a connection, and from the handler that its host has another name', () =>
  withSession(async (session) => {
    const { headers, text } = await read(session.request({ ':path': '/' }));
    expect([headers[':status'], headers['x-own'], headers['keep-alive'], headers.connection]).toEqual([200, 'a, b', undefined, undefined]);
    expect(text).toBe(`localhost:${String(service.port)}`);
  }));

it('answers a body that never ends with 408 and hands the handler no end of it', () =>
  withSession(async (session) => {
    const stream = post(session);
    stream.write('a');
    const { headers, text } = await read(stream);
    expect([headers[':status'], text]).toEqual([408, expect.stringContaining('REQUEST_TIMEOUT')]);
    expect(handled[0]?.events).not.toContain('end');
  }));

it('does not take a request whose client has gone for one that is whole', () =>
  withSession(async (session) => {
    const stream = post(session).on('error', () => undefined);
    stream.write('{}');
    while (handled.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // To close the stream would end the body first.
    session.destroy();
    const [{ events } = { events: [] as string[] }] = handled;
    while (!events.includes('close')) await new Promise((resolve) => setImmediate(resolve));
    expect(events).not.toContain('end');
  }));

it('answers before the body has come, and then wants no more of it', () =>
  withSession(async (session) => {
    const stream = post(session, '/early');
    const answered = read(stream);
    stream.write('a');
    expect((await answered).headers[':status']).toBe(413);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  }));

it('closes a connection of HTTP/2 that asks nothing, before and after a request', async () => {
  await withSession((session) => once(session, 'close'));
  await withSession(async (session) => {
    await read(session.request({ ':path': '/' }));
    await once(session, 'close');
  });
});

it.each([
  ['says nothing', ''],
  ['begins a handshake and leaves it', '\x16\x03\x01'],
  ['talks neither TLS nor HTTP', '\x00\x01\x02\r\n\r\n'],
])('ends a connection that %s', async (_, bytes) => {
  const socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
  if (bytes !== '') socket.write(bytes, 'latin1');
  socket.resume();
  await once(socket, 'close');
});

it('refuses what is malformed in the same envelope, with HSTS only where that counts', async () => {
  const exchange = async (socket: NodeJS.ReadWriteStream) => {
    socket.write('GET / HTTP/1.1\r\n\r\n');
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    return text;
  };
  const plain = await exchange(connect(service.port, '127.0.0.1'));
  const secure = await exchange(connectTls({ port: service.port, host: '127.0.0.1', ca: cert, checkServerIdentity: () => undefined }));
  for (const text of [plain, secure]) expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*VALIDATION_ERROR/);
  expect([plain, secure].map((text) => text.includes('Strict-Transport-Security'))).toEqual([false, true]);
});

it.each([
  ['GET /a?b=c HTTP/1.1\r\nHost: example.org', 'https://example.org/a?b=c'],
  ['GET http://example.org/a HTTP/1.1\r\nHost: example.org:81', 'https://example.org:81/a'],
  ['OPTIONS * HTTP/1.1\r\nHost: example.org', 'https://example.org/'],
])('sends %j to %s', async (head, location) => {
  const socket = connect(service.port, '127.0.0.1');
  socket.write(`${head}\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  expect(text).toMatch(/^HTTP\/1\.1 308 /);
  expect(text).toContain(`location: ${location}\r\n`);
});
