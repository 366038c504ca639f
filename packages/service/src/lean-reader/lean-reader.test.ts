/** Every exchange takes place twice: with the lean reader, and with the parser of Node.js alone. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes.ts';
import { type Service, startService } from '../service.ts';
import type { TrafficLimits } from '../settings.ts';
import { isLean } from './lean-response.ts';

const log = createLog({ service: 'test', level: 'silent' });
const LARGE = Buffer.alloc(8 * 1024 * 1024, 'x');
const JSON_TYPE = { 'content-type': 'application/json', 'x-own': 'yes' };

/** Responses in every way in which a handler can write one, by the header `x-case`. */
const CASES: Readonly<Record<string, (response: ServerResponse, body: string) => void>> = {
  length: (response, body) => response.writeHead(200, { ...JSON_TYPE, 'content-length': Buffer.byteLength(body) }).end(body),
  list: (response, body) => response.writeHead(200, ['content-length', String(body.length), 'x-list', 'a', 'X-List', 'b']).end(body),
  implicit: (response, body) => response.setHeader('x-set', 'a').end(body),
  both: (response, body) =>
    response
      .setHeader('x-set', 'a')
      .writeHead(201, { ...JSON_TYPE, 'content-length': body.length })
      .end(body),
  replaced: (response) => response.setHeader('x-own', 'a').writeHead(200, { 'X-OWN': 'b', 'content-length': 0 }).end(),
  values: (response) => response.writeHead(200, { 'content-length': 0, 'set-cookie': ['a=1', 'b=2'] }).end(),
  latin1: (response) => response.writeHead(200, { 'content-length': 2 }).end('\u00c3\u00a9', 'latin1'),
  utf8: (response) => response.writeHead(200, { 'content-length': 2 }).end('\u00e9'),
  parts: (response) => {
    response.writeHead(200, { 'content-length': 3 });
    response.write('a');
    response.end(Buffer.from('bc'));
  },
  chunks: (response) => {
    response.writeHead(200, JSON_TYPE);
    response.write('abc');
    response.write('\u00e9');
    response.end('end');
  },
  empty: (response) => response.writeHead(204).end(),
  unchanged: (response) => response.writeHead(304, ['etag', '"a"']).end(),
  close: (response) => response.writeHead(503, { connection: 'close', 'content-length': 2 }).end('no'),
  late: (response, body) => setTimeout(() => response.writeHead(200, { 'content-length': body.length }).end(body), 20),
  large: (response) => response.writeHead(200, { 'content-length': LARGE.length }).end(LARGE),
};

interface Started {
  readonly port: number;
  readonly service: Service;
  /** Whether each request was read by the lean reader. */
  readonly lean: boolean[];
  readonly closed: boolean[];
}

const services: Service[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(services.splice(0).map((service) => service.stop()));
});

async function start(isLeanRead: boolean, limits: Partial<TrafficLimits> = {}): Promise<Started> {
  const lean: boolean[] = [];
  const closed: boolean[] = [];
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    lean.push(isLean(response));
    response.once('close', () => closed.push(response.writableFinished));
    if (request.headers['x-case'] === 'unread') {
      response.writeHead(413, { 'content-length': 0, ...(!request.complete && { connection: 'close' }) }).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      CASES[String(request.headers['x-case'] ?? 'length')]?.(response, `${request.url ?? ''} ${Buffer.concat(chunks).toString()}`);
    });
  };
  const service = await startService({
    ...{ log, port: 0, host: '127.0.0.1', probes: createProbes({ isReady: () => true }), handle, limits, drainMs: 500 },
    lean: isLeanRead ? { post: '/graphql', get: /^\/reads\// } : undefined,
  });
  services.push(service);
  return { port: service.port, service, lean, closed };
}

const BOTH = [
  ['the lean reader', true],
  ['Node.js', false],
] as const;
const BODY = '{"query":"{ a }"}';
const post = (more = '', body = BODY) =>
  `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n${more}\r\n${body}`;

function open(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  sockets.push(socket.on('error', () => undefined));
  return socket;
}

/** Sends the parts, each when the server has had time to read the one before, and returns what comes until the server closes or is quiet. */
async function exchange(port: number, parts: readonly string[]): Promise<string> {
  const socket = open(port);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await once(socket, 'connect');
  for (const part of parts) {
    socket.write(part, 'latin1');
    // An exchange on another connection takes place after the server has read this part.
    await ping(port);
  }
  // The last request of every test ends the connection.
  if (!socket.closed) await once(socket, 'close');
  return mask(text);
}

async function ping(port: number): Promise<void> {
  await fetch(`http://127.0.0.1:${String(port)}/livez`).then((response) => response.text());
}

const mask = (text: string) => text.replace(/\r\nDate: [^\r]+/g, '').replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)');
const LAST = post('Connection: close\r\n', '"last"');
const get = (more = '', target = '/reads/a?b=c') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

describe('a response', () => {
  it.each(Object.keys(CASES).filter((name) => !['large', 'chunks', 'replaced'].includes(name)))(
    'has the same bytes with both: %s',
    async (name) => {
      const [lean, node] = [await start(true), await start(false)];
      const parts = [post(`X-Case: ${name}\r\n`), LAST];
      const answer = await exchange(lean.port, parts);
      expect(answer).toBe(await exchange(node.port, parts));
      expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
      expect(lean.lean[0]).toBe(true);
    },
  );

  it.each(['length', 'list', 'empty', 'unchanged'])('to a GET has the same bytes with both: %s', async (name) => {
    const [lean, node] = [await start(true), await start(false)];
    const parts = [get(`X-Case: ${name}\r\n`), get(`X-Case: ${name}\r\n`, '/reads/b'), post(), LAST];
    const answer = await exchange(lean.port, parts);
    expect(answer).toBe(await exchange(node.port, parts));
    expect(answer.match(/HTTP\/1\.1 \d{3} /g)).toHaveLength(4);
    expect(lean.lean).toEqual([true, true, true, false]);
  });

  it('without a length is sent in chunks', async () => {
    const { port, lean } = await start(true);
    const answer = await exchange(port, [post('X-Case: chunks\r\n'), LAST]);
    expect(answer).toContain('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n\u00c3\u00a9\r\n3\r\nend\r\n0\r\n\r\nHTTP/1.1 200');
    expect(lean).toEqual([true, false]);
  });

  it('closes the connection when it is sent before the handler has read the body, as that of Node.js', async () => {
    const [lean, node] = [await start(true), await start(false)];
    const answer = await exchange(lean.port, [post('X-Case: unread\r\n')]);
    expect(answer).toBe(await exchange(node.port, [post('X-Case: unread\r\n')]));
    expect(answer).toContain('connection: close');
  });

  it.each(BOTH)('is cut when its client reads no byte of it for the write timeout: %s', async (_, isLeanRead) => {
    const { port, closed } = await start(isLeanRead, { writeTimeoutMs: 300 });
    const socket = open(port).pause();
    socket.write(post('X-Case: large\r\n'));
    while (closed.length === 0) await ping(port);
    expect(socket.bytesRead).toBe(0);
    socket.resume();
    await once(socket, 'close');
    expect(socket.bytesRead).toBeLessThan(LARGE.length);
  });

  it('has the header of `writeHead` in place of one of the same name that was set before', async () => {
    const { port } = await start(true);
    const answer = await exchange(port, [post('X-Case: replaced\r\n'), LAST]);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\nX-OWN: b\r\n/);
  });

  it.each(BOTH)('is sent whole to a client that reads late: %s', async (_, isLeanRead) => {
    const { port, closed } = await start(isLeanRead);
    const socket = open(port).pause();
    socket.write(post('X-Case: large\r\n'));
    await ping(port);
    let length = 0;
    socket.on('data', (chunk: Buffer) => (length += chunk.length)).resume();
    while (closed.length === 0) await ping(port);
    expect(closed).toEqual([true]);
    while (length < LARGE.length) await once(socket, 'data');
  });

  it.each(BOTH)('closes for its handler when the client disconnects before it: %s', async (_, isLeanRead) => {
    const { port, closed } = await start(isLeanRead);
    const socket = open(port);
    socket.write(post('X-Case: none\r\n'));
    await ping(port);
    socket.destroy();
    while (closed.length === 0) await ping(port);
    expect(closed).toEqual([false]);
  });
});

describe('a connection', () => {
  it('gives the same responses wherever its requests are cut', async () => {
    const [lean, node] = [await start(true), await start(false)];
    const text = post('', '"a"') + get() + post('', '"b"');
    const expected = await exchange(node.port, [text, LAST]);
    for (let cut = 1; cut < text.length; cut += 1)
      expect(await exchange(lean.port, [text.slice(0, cut), text.slice(cut), LAST])).toBe(expected);
    expect(new Set(lean.lean)).toEqual(new Set([true, false]));
  }, 30_000);

  it.each([
    ['pipelines', [post('', '"a"') + post('', '"b"') + LAST]],
    ['pipelines while a response is awaited', [post('X-Case: late\r\n'), post('', '"b"') + LAST]],
    [
      'sends half a request while a response is awaited',
      [post('X-Case: late\r\n') + post('', '"b"').slice(0, 30), post('', '"b"').slice(30), LAST],
    ],
    ['changes to another method', [post(), 'GET /graphql HTTP/1.1\r\nHost: a\r\n\r\n', LAST]],
    ['pipelines GETs', [get() + get('', '/reads/b') + LAST]],
    ['sends a GET with a body', [get('Content-Length: 27\r\n') + get('', '/a').slice(0, 27), LAST]],
    ['sends a GET with chunks', [`${get('Transfer-Encoding: chunked\r\n')}0\r\n\r\n`, LAST]],
    ['sends bytes behind a GET', [`${get()}abc`]],
    ['sends its body apart from the head', [post().slice(0, -BODY.length), BODY, LAST]],
    ['smuggles by two lengths', [post(), post('Content-Length: 5\r\n'), LAST]],
    ['smuggles by a length and chunks', [post(), `${post('Transfer-Encoding: chunked\r\n')}0\r\n\r\nGET /admin HTTP/1.1\r\n\r\n`]],
    ['smuggles by a coding with a vertical tab', [post('Transfer-Encoding:\u000bchunked\r\n'), LAST]],
    ['smuggles by a space before the colon', [post('Transfer-Encoding : chunked\r\n'), LAST]],
    [
      'smuggles by a folded length',
      ['POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length:\r\n 2\r\n\r\n{}', LAST],
    ],
    ['smuggles by a bare LF', [post('X-A: b\nContent-Length: 3\r\n'), LAST]],
    ['smuggles by a bare CR', [post('X-A: b\rTransfer-Encoding: chunked\r\n'), LAST]],
    ['sends a body that is longer than its length', [`${post()}GET /livez HTTP/1.1\r\nHost: a\r\n\r\n`, LAST]],
    ['names two hosts', [post('Host: b\r\n')]],
    ['names no host', [post().replace('Host: a\r\n', '')]],
    ['expects 100-continue', [post('Expect: 100-continue\r\n').slice(0, -BODY.length), BODY, LAST]],
    ['sends an absolute URI', [post().replace('/graphql', 'http://b/graphql'), LAST]],
    ['asks for an upgrade', [post('Connection: upgrade\r\nUpgrade: h2c\r\n'), LAST]],
    ['uses HTTP/1.0', [post().replace('HTTP/1.1', 'HTTP/1.0')]],
    ['uses HTTP/1.2', [post().replace('HTTP/1.1', 'HTTP/1.2')]],
    ['sends an empty line first', [`\r\n${post()}`, LAST]],
    ['speaks no HTTP', [post(), '\x16\x03\x01\x02\x00\x01']],
    ['sends headers of more than 16 KiB', [post(`X-A: ${'a'.repeat(20_000)}\r\n`)]],
  ] as [string, string[]][])('that %s gets what Node.js answers', async (_, parts) => {
    const [lean, node] = [await start(true), await start(false)];
    expect(await exchange(lean.port, parts)).toBe(await exchange(node.port, parts));
    expect(lean.lean).toHaveLength(node.lean.length);
  });

  it.each(BOTH)('on which nothing arrives is refused with 408: %s', async (_, isLeanRead) => {
    const { port } = await start(isLeanRead, { headersTimeoutMs: 200 });
    const socket = open(port);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 408 [\s\S]*REQUEST_TIMEOUT/);
    await once(socket, 'close');
  });

  it.each(BOTH)('is closed without a word when it is idle: %s', async (_, isLeanRead) => {
    const { port } = await start(isLeanRead, { keepAliveTimeoutMs: 300 });
    const answer = await exchange(port, [post()]);
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
  });

  it.each(BOTH)('counts for the limit of its address until it is closed: %s', async (_, isLeanRead) => {
    const { port } = await start(isLeanRead, { maxConnectionsPerAddress: 2 });
    const first = open(port);
    first.write(post());
    await once(first, 'data');
    const second = open(port);
    second.write(post());
    await once(second, 'data');
    await once(open(port), 'close');
    first.destroy();
    for (;;) {
      const next = open(port);
      next.write(post());
      if (await Promise.race([once(next, 'data').then(() => true), once(next, 'close').then(() => false)])) return;
    }
  });

  it.each(BOTH)('ends with its next response once the stop is announced, and is closed when it is idle: %s', async (_, isLeanRead) => {
    const { port, service } = await start(isLeanRead);
    const [idle, used] = [open(port), open(port)];
    for (const socket of [idle, used]) {
      socket.write(post());
      await once(socket, 'data');
    }
    await service.announceStop();
    used.write(post());
    const [answer] = (await once(used, 'data')) as [Buffer];
    expect(answer.toString()).toContain('Connection: close');
    await once(used, 'close');
    const stopped = service.stop();
    await once(idle, 'close');
    await stopped;
  });

  it.each(BOTH)('gets the response to its request in flight while the server stops: %s', async (_, isLeanRead) => {
    const { port, service, lean } = await start(isLeanRead);
    const socket = open(port);
    socket.write(post('X-Case: late\r\n'));
    while (lean.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = service.stop();
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200/);
    await stopped;
  });
});
