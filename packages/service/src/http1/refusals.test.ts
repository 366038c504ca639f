/** Over a bare socket: what no HTTP client would send. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { type Service, startService } from '../service.ts';

let service: Service;
let handled: IncomingMessage[] = [];
let release: () => void = () => undefined;
beforeAll(async () => {
  service = await startService({
    log: createLog({ service: 'test', level: 'silent' }),
    port: 0,
    host: '127.0.0.1',
    probes: createProbes({ isReady: () => true }),
    limits: { headersTimeoutMs: 200, requestTimeoutMs: 400 },
    handle: (request, response) => {
      handled.push(request);
      if (request.url === '/early') response.writeHead(413, { 'content-length': '0' }).end();
      else if (request.url === '/held') release = () => response.end('held');
      else if (request.url === '/begun') {
        response.writeHead(200, { 'content-length': '5' }).write('be');
        release = () => response.end('gun');
      }
      // Answers once the body is there.
      else request.resume().on('end', () => response.end(`served ${String(request.rawHeaders.length)}`));
    },
    toRefusalResponse: ({ code, message, requestId }) => ({
      headers: { 'X-Own': 'yes' },
      body: { error: { code, message, requestId } },
    }),
  });
});
beforeEach(() => {
  handled = [];
});
afterAll(() => service.stop());

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends the bytes and gives what came back until the connection was closed by the other side. */
function exchange(text: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(service.port, '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body });
    });
  });
}

const get = (headers: string) => `GET / HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
const post = (headers: string, body = '') => `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;

describe('a request that is not well-formed', () => {
  it.each([
    ['both Content-Length and Transfer-Encoding', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
    ['two Content-Lengths', post('Content-Length: 5\r\nContent-Length: 6\r\n', 'hello!')],
    ['one Content-Length twice', post('Content-Length: 5\r\nContent-Length: 5\r\n', 'hello')],
    ['a list of Content-Lengths', post('Content-Length: 5, 5\r\n', 'hello')],
    ['a signed Content-Length', post('Content-Length: +5\r\n', 'hello')],
    ['a coding after chunked', post('Transfer-Encoding: chunked, identity\r\n', '0\r\n\r\n')],
    ['chunked twice', post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')],
    ['a coding before chunked', post('Transfer-Encoding: identity, chunked\r\n', '0\r\n\r\n')],
    ['a compressed body in chunks', post('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n')],
    ['an empty coding', post('Transfer-Encoding: \r\n')],
    ['an unknown coding', post('Transfer-Encoding: xchunked\r\n', '0\r\n\r\n')],
    ['chunks in HTTP/1.0', 'POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['a chunk without a size', post('Transfer-Encoding: chunked\r\n', 'zz\r\nhello\r\n0\r\n\r\n')],
    ['a folded header', get('X-A: b\r\n c\r\n')],
    ['a space before the colon', get('X-A : b\r\n')],
    ['a control character', get('X-A: a\u0001b\r\n')],
    ['a bare CR', get('X-A: a\rb\r\n')],
    ['bare LFs', 'GET / HTTP/1.1\nHost: a\n\n'],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n'],
    ['two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
    ['an absolute target whose authority is none', 'GET http://a@b/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a Host that is none', 'GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n'],
    ['no version', 'GET /\r\n\r\n'],
    ['the version of another protocol', 'GET / HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['another protocol', 'GET / HTTP/2.5\r\nHost: a\r\n\r\n'],
    ['an unknown expectation', get('Expect: tea\r\n')],
  ])('with %s is answered 400 in the envelope, and the connection ends', async (_, text) => {
    const { status, head, body } = await exchange(text);
    expect(status).toBe(400);
    expect(head).toMatch(/\r\nContent-Type: application\/json; charset=utf-8\r\n/);
    expect(head).toMatch(/\r\nConnection: close/);
    expect(head).toContain('\r\nX-Own: yes');
    const { error } = JSON.parse(body) as { error: { code: string; requestId: string } };
    expect(error.code).toBe('VALIDATION_ERROR');
    expect(head).toContain(`X-Request-ID: ${error.requestId}`);
    expect(body).not.toMatch(/HPE_|Parse|stack/);
  });
});

it.each([
  ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 501, 'NOT_IMPLEMENTED'],
  ['a method in lower case', 'get / HTTP/1.1\r\nHost: a\r\n\r\n', 501, 'NOT_IMPLEMENTED'],
  ['a method of RTSP', 'DESCRIBE / HTTP/1.1\r\nHost: a\r\n\r\n', 501, 'NOT_IMPLEMENTED'],
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 501, 'NOT_IMPLEMENTED'],
  ['headers of more than 16 KiB', get(`X-A: ${'a'.repeat(17_000)}\r\n`), 431, 'REQUEST_HEADER_FIELDS_TOO_LARGE'],
  ['headers that never end', 'GET / HTTP/1.1\r\nHost: a\r\n', 408, 'REQUEST_TIMEOUT'],
  ['a body that never ends', post('Content-Length: 5\r\n', 'hel'), 408, 'REQUEST_TIMEOUT'],
])('%s: %s', async (_, text, status, code) => {
  const answer = await exchange(text);
  expect([answer.status, (JSON.parse(answer.body) as { error: { code: string } }).error.code]).toEqual([status, code]);
});

it('serves unusual requests that are well-formed', async () => {
  expect((await exchange(get('Connection: close\r\n'))).body).toContain('served');
  expect((await exchange(get('Connection: close, upgrade\r\nUpgrade: tea\r\n'))).body).toContain('served');
  expect((await exchange('GET / HTTP/1.0\r\n\r\n')).body).toContain('served');
  expect((await exchange(post('Connection: close\r\nTransfer-Encoding: chunked\r\n', '5;a=b\r\nhello\r\n0\r\n\r\n'))).body).toContain(
    'served',
  );
});

it('sees every header of a request with thousands of them', async () => {
  const { body } = await exchange(get(`Connection: close\r\n${'X:a\r\n'.repeat(2500)}`));
  expect(body).toContain('served 5004');
});

// Spec §1: the server echoes X-Request-ID back on the response.
it.each([
  ['BREW', '/'],
  ['get', '/'],
  ['DESCRIBE', '/'],
  ['CONNECT', 'a:1'],
])('refuses the method %s with the X-Request-ID of the request', async (method, target) => {
  const id = 'a2d6a3a4-6f3f-4f3a-9c36-3b1f7a0e8d11';
  const answer = await exchange(`${method} ${target} HTTP/1.1\r\nHost: a:1\r\nx-request-id: ${id}\r\nX-B: c\r\n\r\n`);
  expect([answer.status, (JSON.parse(answer.body) as { error: { requestId: string } }).error.requestId]).toEqual([501, id]);
  expect(answer.head).toContain(`X-Request-ID: ${id}`);
});

it('refuses an unknown method without the X-Request-ID of another request, or one that is no UUID', async () => {
  const id = 'a2d6a3a4-6f3f-4f3a-9c36-3b1f7a0e8d11';
  for (const text of [
    `BREW / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX-Request-ID: ${id}\r\n\r\n`,
    `BREW / HTTP/1.1\r\nX-Request-ID: ${id}${id}\r\n\r\n`,
  ]) {
    const { status, head } = await exchange(text);
    expect(status).toBe(501);
    expect(head).not.toContain(id);
  }
});

it('refuses with the X-Request-ID of the request, and a HEAD request without a body', async () => {
  const id = 'a2d6a3a4-6f3f-4f3a-9c36-3b1f7a0e8d11';
  const { status, head, body } = await exchange(`HEAD / HTTP/1.1\r\nX-Request-ID: ${id}\r\n\r\n`);
  expect([status, body]).toEqual([400, '']);
  expect(head).toContain(`X-Request-ID: ${id}`);
});

/** Sends the bytes and gives the connection, and what came back on it so far. */
function open(text: string): { readonly socket: Socket; readonly received: () => string } {
  let answer = '';
  const socket = connect({ port: service.port, host: '127.0.0.1', allowHalfOpen: true }, () => socket.write(text));
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString())).on('error', () => undefined);
  return { socket, received: () => answer };
}

/** When the other side has closed, or cut, the connection. */
const ended = (socket: Socket) => new Promise((resolve) => socket.once('end', resolve).once('close', resolve));
const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve));

const statuses = (answers: string) => Array.from(answers.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status);

describe('a connection with several requests', () => {
  it('does not handle what follows an ill-framed request, since it may be a part of it', async () => {
    await exchange(post('Transfer-Encoding: identity, chunked\r\n', `0\r\n\r\n${get('')}`));
    await exchange(`GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n${get('')}`);
    expect(handled).toEqual([]);
  });

  it.each(['BAD BAD\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', 'X-Nothing\r\n\r\n'])(
    'completes the response to the request in flight, whatever follows that request: %j',
    async (garbage) => {
      const { socket, received } = open(`GET /held HTTP/1.1\r\nHost: a\r\n\r\n${garbage}`);
      while (handled.length === 0) await new Promise((resolve) => setImmediate(resolve));
      release();
      await ended(socket);
      socket.destroy();
      expect(statuses(received())[0]).toBe('200');
    },
  );

  it.each([
    ['Transfer-Encoding: chunked', 'zz\r\n'],
    ['Content-Length: 9', 'too few'],
  ])('gives one answer to a request that was answered before its body with %s went wrong', async (header, body) => {
    const { socket, received } = open(`POST /early HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
    await once(socket, 'data');
    socket.write(body);
    await ended(socket);
    socket.destroy();
    expect(statuses(received())).toEqual(['413']);
  });
});

describe('a connection that was refused', () => {
  it('ends the body that the handler reads, and passes on no more of it', async () => {
    const { socket, received } = open(post('Content-Length: 5\r\n', 'hel'));
    await ended(socket);
    socket.write('lo');
    const [request] = handled;
    if (request && !request.destroyed) await once(request, 'close');
    socket.destroy();
    expect([request?.complete, statuses(received())]).toEqual([false, ['408']]);
  });

  it('is cut off although the client goes on sending', async () => {
    const { socket, received } = open('GET / HTTP/1.1\r\n');
    const drip = setInterval(() => socket.write('X: a\r\n'), 20);
    await closed(socket);
    clearInterval(drip);
    expect(statuses(received())).toEqual(['408']);
  });

  it('does not end the process when the client resets it', async () => {
    for (let i = 0; i < 20; i++) {
      const { socket } = open('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n');
      await once(socket, 'connect');
      if (i % 2 === 0) await once(socket, 'data');
      socket.resetAndDestroy();
    }
    expect((await exchange(get('Connection: close\r\n'))).status).toBe(200);
  });
});

describe('a fault behind a request whose response has been begun', () => {
  it('is refused after that response, and the connection ends', async () => {
    let text = '';
    const socket = connect(service.port, '127.0.0.1');
    socket.write('GET /begun HTTP/1.1\r\nHost: a\r\n\r\nG?T / HTTP/1.1\r\n\r\n');
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(socket, 'data');
    release();
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[^]*\r\n\r\nbegunHTTP\/1\.1 501 Not Implemented\r\n/);
  });
});
