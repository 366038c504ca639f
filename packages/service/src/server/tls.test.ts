/** What only a slow or strange client sees of a port that speaks TLS; the rest is tried in e2e/scenarios/gateway-tls. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, connect as connectHttp2, constants } from 'node:http2';
import { type AddressInfo, connect, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { type Service, startService } from '../service.ts';
import { type Signed, createSelfSigned } from '../testing/test-authority.ts';

let service: Service;
const probes = createProbes({ isReady: () => true });
let cert: string;
let tls: Signed;
const LARGE = 8 * 1024 * 1024;
let handled: { request: IncomingMessage; events: string[] }[] = [];
beforeAll(async () => {
  tls = await createSelfSigned();
  cert = tls.cert;
  service = await startService({
    log: createLog({ service: 'test', level: 'silent' }),
    port: 0,
    host: '127.0.0.1',
    tls,
    probes,
    limits: { headersTimeoutMs: 1000, requestTimeoutMs: 2500, keepAliveTimeoutMs: 300, bodyGraceMs: 1200, writeTimeoutMs: 500 },
    handle: (request, response) => {
      const events: string[] = [];
      handled.push({ request, events });
      request.resume();
      for (const event of ['end', 'close']) request.on(event, () => events.push(event));
      if (request.url === '/large') response.writeHead(200).end('x'.repeat(LARGE));
      else if (request.url === '/never') return;
      else if (request.url === '/early') response.writeHead(413, ['content-length', '0', 'connection', 'close']).end();
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

it('sends no headers of the connection over HTTP/2, and gives the handler :authority as Host', () =>
  withSession(async (session) => {
    const { headers, text } = await read(session.request({ ':path': '/' }));
    expect([headers[':status'], headers['x-own'], headers['keep-alive'], headers.connection]).toEqual([200, 'a, b', undefined, undefined]);
    expect(text).toBe(`localhost:${String(service.port)}`);
  }));

it('answers 408 to a body that never ends, and emits no end to the handler', () =>
  withSession(async (session) => {
    const stream = post(session);
    stream.write('a');
    const { headers, text } = await read(stream);
    expect([headers[':status'], text]).toEqual([408, expect.stringContaining('REQUEST_TIMEOUT')]);
    expect(handled[0]?.events).not.toContain('end');
  }));

it('does not treat a request as complete when its client disconnects', () =>
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

it('sends a response before the body has arrived, and then stops the body', () =>
  withSession(async (session) => {
    const stream = post(session, '/early');
    const answered = read(stream);
    stream.write('a');
    expect((await answered).headers[':status']).toBe(413);
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR);
  }));

it('closes an idle HTTP/2 connection, before and after a request', async () => {
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

it('refuses malformed requests in the same envelope, with HSTS over TLS only', async () => {
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

/** Sends the head of a request without TLS, and gives all that comes back. */
async function exchangePlain(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${head}\r\n\r\n`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe('plain HTTP at a port with a certificate', () => {
  it.each([
    ['GET /a?b=c HTTP/1.1\r\nHost: localhost', 'https://localhost/a?b=c'],
    ['GET http://localhost:81/a HTTP/1.1\r\nHost: other', 'https://localhost:81/a'],
    ['OPTIONS * HTTP/1.1\r\nHost: LOCALHOST', 'https://localhost/'],
  ])('is redirected to the name of the certificate: %j to %s (contract §4)', async (head, location) => {
    const text = await exchangePlain(service.port, head);
    expect(text).toMatch(/^HTTP\/1\.1 308 /);
    expect(text).toContain(`location: ${location}\r\n`);
  });

  it.each([
    'Host: evil.example',
    'Host: localhost.evil.example',
    'Host: 192.0.2.1',
    'Host: [2001:db8::1]:443',
    'Host: localhost:443:443',
    'Host: localhost:65536',
    'Host: [::::]',
    'Host: %',
    'Host: ',
    `Host: ${'a'.repeat(300)}`,
    'Host: evil.example\\@localhost',
  ])('is refused, and redirected nowhere, with %j (contract §4)', async (host) => {
    const text = await exchangePlain(service.port, `GET /a HTTP/1.1\r\n${host}`);
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*VALIDATION_ERROR/);
    expect(text).not.toMatch(/location:/i);
  });

  it('is redirected to the public address, whatever host the client names', async () => {
    const log = createLog({ service: 'test', level: 'silent' });
    const handle = () => undefined;
    const own = await startService({
      log,
      port: 0,
      host: '127.0.0.1',
      tls,
      probes: createProbes({ isReady: () => true }),
      handle,
      publicUrl: 'https://api.example.org:8443/v1',
    });
    try {
      for (const host of ['evil.example', 'localhost', 'api.example.org'])
        expect(await exchangePlain(own.port, `GET /a?b HTTP/1.1\r\nHost: ${host}`)).toContain(
          'location: https://api.example.org:8443/a?b\r\n',
        );
    } finally {
      await own.stop();
    }
  });
});

describe('HTTP/2', () => {
  it('serves a request whose empty body ends in a frame after its headers, as HTTP/1.1 with Content-Length: 0', () =>
    withSession(async (session) => {
      const { headers } = await read(post(session).end());
      expect([headers[':status'], handled[0]?.events[0]]).toEqual([200, 'end']);
    }));

  it('answers a body that arrives too slowly with 408', () =>
    withSession(async (session) => {
      const stream = post(session);
      const drip = setInterval(() => stream.writable && stream.write('a'), 50);
      const { headers, text } = await read(stream).finally(() => {
        clearInterval(drip);
      });
      expect([headers[':status'], text]).toEqual([408, expect.stringContaining('REQUEST_TIMEOUT')]);
    }));

  it('cuts a stream whose client does not read, while another stream of the connection is served', () =>
    withSession(async (session) => {
      const stalled = session.request({ ':path': '/large' });
      stalled.on('error', () => undefined);
      // Without a listener for data nothing is read, and the window of the stream stays closed.
      do {
        const { headers } = await read(session.request({ ':path': '/' }));
        expect(headers[':status']).toBe(200);
      } while (!stalled.closed);
      expect(stalled.rstCode).toBe(constants.NGHTTP2_CANCEL);
    }));

  it('sends a large body whole to a client that reads it', () =>
    withSession(async (session) => {
      const { headers, text } = await read(session.request({ ':path': '/large' }));
      expect([headers[':status'], text.length, text === 'x'.repeat(LARGE)]).toEqual([200, LARGE, true]);
    }));

  it('survives a connection that is lost with as many open streams as it may have, and does not take that for a flood', async () => {
    handled = [];
    const floods = () => probes.metrics.getSingleMetricAsString('trestle_connections_cut_total');
    const before = await floods();
    const url = `https://localhost:${String(service.port)}`;
    // Only the first connection of an address may have as many.
    const fromOther = connect({ host: '127.0.0.1', port: service.port, localAddress: '127.0.0.2' });
    const socket = connectTls({ socket: fromOther, ca: cert, ALPNProtocols: ['h2'] });
    const lost = connectHttp2(url, { createConnection: () => socket }).on('error', () => undefined);
    for (let n = 0; n < 128; n++) lost.request({ ':path': '/never' }).on('error', () => undefined);
    while (handled.length < 128) await new Promise((resolve) => setImmediate(resolve));
    // Nothing of HTTP/2 is sent any more.
    socket.destroy();
    await withSession(async (session) => {
      expect((await read(session.request({ ':path': '/' }))).headers[':status']).toBe(200);
    });
    expect(await floods()).toBe(before);
  });

  it('closes the streams of a client that is lost: its machine ends the connection, and TLS and HTTP/2 say nothing', async () => {
    handled = [];
    const toServer = connect(service.port, '127.0.0.1');
    const relay = createServer((client) => {
      client.pipe(toServer).pipe(client);
      toServer.once('close', () => client.destroy());
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    const { port } = relay.address() as AddressInfo;
    const session = connectHttp2(`https://localhost:${String(port)}`, { ca: cert }).on('error', () => undefined);
    session.request({ ':path': '/never' }).on('error', () => undefined);
    while (handled.length === 0) await new Promise((resolve) => setImmediate(resolve));
    // Sending to a lost connection fails, and would show the loss: everything has been sent before a PING is acknowledged.
    await new Promise((resolve) => session.ping(resolve));
    toServer.destroy();
    while (handled[0]?.events.includes('close') !== true) await new Promise((resolve) => setImmediate(resolve));
    session.destroy();
    await new Promise((resolve) => relay.close(resolve));
  });

  it('refuses a request with more header fields than any client needs, and serves the next one (CVE-2019-9516)', async () => {
    await withSession(async (session) => {
      const fields = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`x-${String(n)}`, 'a']));
      const refused = session.request({ ':path': '/', ...fields });
      const [error] = (await once(refused, 'error')) as [Error];
      expect(error.message).toContain('ENHANCE_YOUR_CALM');
      expect((await read(session.request({ ':path': '/' }))).headers[':status']).toBe(200);
      expect(handled).toHaveLength(1);
    });
  });

  it.each([
    ['PING', (session: ClientHttp2Session) => session.ping(() => undefined)],
    [
      'RST_STREAM',
      (session: ClientHttp2Session) => {
        const stream = session.request({ ':method': 'POST', ':path': '/' }, { endStream: false });
        stream.on('error', () => undefined).close(constants.NGHTTP2_CANCEL);
      },
    ],
  ])('ends a connection that floods it with %s (RFC 9113 §10.5)', async (_, send) => {
    const floods = async () => /frames"} (\d+)/.exec(await probes.metrics.getSingleMetricAsString('trestle_connections_cut_total'))?.[1];
    const before = await floods();
    await withSession(async (session) => {
      while ((await floods()) === before) {
        for (let i = 0; i < 5 && !session.destroyed && !session.closed; i++) send(session);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    await withSession(async (session) => {
      expect((await read(session.request({ ':path': '/' }))).headers[':status']).toBe(200);
    });
  });
});
