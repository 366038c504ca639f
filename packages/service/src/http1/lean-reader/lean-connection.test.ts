/** Connections of the lean reader whose clients share the process, or end their side. */
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { afterEach, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createClientIds, toClientHeaders } from '../../clients/client-id.ts';
import { createProbes } from '../../probes/probes.ts';
import { type Service, startService } from '../../service.ts';
import { isLean } from './lean-response.ts';

const KEY = 'a key that the processes share';
const CLIENTS = ['203.0.113.1', '198.51.100.1'];
/** More than may be in flight while two clients share the process. */
const REQUESTS = 40;

let service: Service | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service?.stop();
});

interface Seen {
  inFlight: number;
  most: number;
  lean: number;
  closed: number;
}

/** Answers a body with itself, after some time. */
async function start(isLeanRead: boolean, delayMs: number): Promise<Seen> {
  const seen = { inFlight: 0, most: 0, lean: 0, closed: 0 };
  service = await startService({
    ...{ log: createLog({ service: 'test', level: 'silent' }), port: 0, host: '127.0.0.1', clientIdKey: KEY },
    probes: createProbes({ isReady: () => true }),
    lean: isLeanRead ? { post: '/graphql' } : undefined,
    handle: (request, response) => {
      if (isLean(response)) seen.lean++;
      response.once('close', () => seen.closed++);
      let body = '';
      // The body is read late, as by a handler that first waits for something else.
      setImmediate(() => {
        request.on('data', (chunk: Buffer) => (body += chunk.toString()));
        request.on('end', () => {
          seen.most = Math.max(seen.most, ++seen.inFlight);
          setTimeout(() => {
            seen.inFlight--;
            response.writeHead(200, { 'content-length': body.length }).end(body);
          }, delayMs);
        });
      });
    },
  });
  return seen;
}

function open(): Socket {
  const socket = connect({ port: service?.port ?? 0, host: '127.0.0.1', noDelay: true });
  sockets.push(socket.on('error', () => undefined));
  return socket;
}

/** A request of the client at that address, as another process of this system passes it on. */
function post(body: string, address: string): string {
  const request = { headers: {}, socket: { remoteAddress: address } };
  createClientIds(KEY).identify(request);
  const [name = '', value = ''] = toClientHeaders(request);
  const head = `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n`;
  return `${head}${name}: ${value}\r\n\r\n${body}`;
}

const bodyOf = (answer: Buffer) => answer.toString().split('\r\n\r\n')[1];

it.each([
  ['the lean reader', true],
  ['Node.js', false],
])('get every response, and wait for their turn, when clients share the process: %s', async (_, isLeanRead) => {
  const seen = await start(isLeanRead, 20);
  for (const client of CLIENTS) {
    const socket = open();
    socket.write(post('"first"', client));
    await once(socket, 'data');
  }
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, async (__, i) => {
      const socket = open();
      socket.write(post(`"${String(i)}"`, CLIENTS[i % 2] as string));
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return bodyOf(answer);
    }),
  );
  expect(answers).toEqual(Array.from({ length: REQUESTS }, (__, i) => `"${String(i)}"`));
  expect(seen.lean).toBe(isLeanRead ? REQUESTS + 2 : 0);
  expect(seen.most).toBeLessThan(REQUESTS);
});

it.each([
  ['the lean reader', true],
  ['Node.js', false],
])('end without a response when their client ends its side before it: %s', async (_, isLeanRead) => {
  const seen = await start(isLeanRead, 50);
  const socket = open();
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
  socket.end(post('"a"', CLIENTS[0] as string));
  await once(socket, 'close');
  while (seen.closed === 0) await new Promise((resolve) => setImmediate(resolve));
  expect(answer).toBe('');
});
