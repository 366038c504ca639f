/** A service with the lean reader or with the parser of Node.js alone, and exchanges of bytes with it, so that tests compare both. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterEach } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../../probes/probes.ts';
import { type Service, startService } from '../../service.ts';
import type { TrafficLimits } from '../../settings.ts';
import { isLean } from './lean-response.ts';

const log = createLog({ service: 'test', level: 'silent' });
/** More than the kernel holds for a client that does not read. */
export const LARGE = Buffer.alloc(8 * 1024 * 1024, 'x');
const JSON_TYPE = { 'content-type': 'application/json', 'x-own': 'yes' };

/** Responses in every way in which a handler can write one, by the header `x-case`. */
export const CASES: Readonly<Record<string, (response: ServerResponse, body: string) => void>> = {
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

/** A running service, and what it has observed. */
export interface Started {
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

/** Starts a service that the running test stops at its end. */
export async function start(isLeanRead: boolean, limits: Partial<TrafficLimits> = {}): Promise<Started> {
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

/** For `it.each`: the name of a reader, and whether it is the lean one. */
export const BOTH = [
  ['the lean reader', true],
  ['Node.js', false],
] as const;
/** The body of {@link post}, if none is given. */
export const BODY = '{"query":"{ a }"}';
/** Returns a POST that the lean reader reads, with more header lines, each of which ends with CRLF. */
export const post = (more = '', body = BODY) =>
  `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n${more}\r\n${body}`;

/** Opens a connection that is closed at the end of the test. */
export function open(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  sockets.push(socket.on('error', () => undefined));
  return socket;
}

/** Sends the parts, each when the server has had time to read the one before, and returns what comes until the server closes the connection. */
export async function exchange(port: number, parts: readonly string[]): Promise<string> {
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

/** Resolves when the server has read what was sent before on other connections. */
export async function ping(port: number): Promise<void> {
  await fetch(`http://127.0.0.1:${String(port)}/livez`).then((response) => response.text());
}

const mask = (text: string) => text.replace(/\r\nDate: [^\r]+/g, '').replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)');
/** A request that ends its connection. */
export const LAST = post('Connection: close\r\n', '"last"');
/** Returns a GET that the lean reader reads, with more header lines. */
export const get = (more = '', target = '/reads/a?b=c') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
