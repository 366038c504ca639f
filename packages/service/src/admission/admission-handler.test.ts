import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type ServerResponse, request as send } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type Admission, createAdmission } from './admission.ts';
import { createClientIds, toClientHeaders } from '../clients/client-id.ts';
import { abandonSlot, releaseSlot } from './admission-handler.ts';
import { createProbes } from '../probes/probes.ts';
import { type Service, startService } from '../service.ts';

const KEY = 'a key that the processes share';
const MAX_WAITING = 30;

let admission: Admission;
/** Milliseconds by the admission's clock, which stands still unless a test sets it, or a request to `/costly` is handled. */
let time: number;
let service: Service;
/** The share of time in which the event loop is busy, as the admission reads it. */
let utilization: number;
/** How often it has read that. */
let ticks: number;
/** Responses that the handler has, until the test ends them. It ends those to `/now` itself. */
let handled: ServerResponse[];
/** Requests that the handler has been called with. */
let received: number;
const open: ClientRequest[] = [];

beforeEach(async () => {
  handled = [];
  time = 0;
  received = 0;
  utilization = 0;
  ticks = 0;
  const readUtilization = () => {
    ticks++;
    return utilization;
  };
  admission = createAdmission({ maxWaiting: MAX_WAITING, readUtilization, now: () => time });
  service = await startService({
    log: createLog({ service: 'test', level: 'silent' }),
    port: 0,
    host: '127.0.0.1',
    probes: createProbes({ isReady: () => true }),
    admission,
    clientIdKey: KEY,
    handle: (request, response) => {
      received++;
      readAll(request).then(
        (body) => {
          if (request.url === '/costly') time += 100;
          if (request.url === '/now' || request.url === '/costly') response.end(body);
          else handled.push(response);
        },
        () => undefined,
      );
    },
  });
});
afterEach(async () => {
  for (const each of open.splice(0)) each.destroy();
  await service.stop();
});

async function readAll(request: IncomingMessage): Promise<string> {
  if (request.method === 'GET') return '';
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** Returns the header by which a process in front of this one identifies a client at that address. */
function headersOf(address: string): Record<string, string> {
  const request = { headers: {}, socket: { remoteAddress: address } };
  createClientIds(KEY).identify(request);
  const [name = '', value = ''] = toClientHeaders(request);
  return { [name]: value };
}

function ask(address: string, path: string, headers: Record<string, string> = {}, method = 'GET'): ClientRequest {
  const request = send({
    host: '127.0.0.1',
    port: service.port,
    path,
    method,
    agent: false,
    headers: { ...headersOf(address), ...headers },
  });
  request.on('error', () => undefined);
  open.push(request);
  return request;
}

async function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
  response.resume();
  return response;
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setTimeout(5);
}

const FIRST = '203.0.113.1';
const SECOND = '203.0.113.2';

/** Two clients, the first of which has so many requests in flight that further requests of it wait. */
async function fill(): Promise<void> {
  ask(SECOND, '/second').end();
  await until(() => handled.length === 1);
  for (let n = 0; n < 16; n++) ask(FIRST, '/first').end();
  await until(() => handled.length === 17);
  // Only now: a busy process lowers its limit, and not all of them would begin.
  utilization = 1;
}

it('answers a client that has nothing in flight while requests of another client wait', async () => {
  await fill();
  let isAnswered = false;
  ask(FIRST, '/now')
    .once('response', () => (isAnswered = true))
    .end();
  expect((await answerTo(ask('203.0.113.3', '/now'))).statusCode).toBe(200);
  expect(isAnswered).toBe(false);
});

it.each([
  ['with large responses', '/now', 4_000_000],
  ['whose requests take long after their bodies were read', '/costly', 10],
])('answers cheap requests of a client beside each other while requests of a client %s wait', async (_, path, bytes) => {
  ask(SECOND, '/second').end();
  await until(() => handled.length === 1);
  const use = async (client: string, to: string, size: number) => {
    const request = ask(client, to, {}, 'POST');
    request.write(Buffer.alloc(size));
    await once(await answerTo(request), 'end');
  };
  // Nothing is measured before there are two clients.
  await use(FIRST, '/now', 10);
  await use(SECOND, '/now', 1_000_000);
  ask(SECOND, '/second').end();
  for (let n = 0; n < 15; n++) ask(FIRST, '/first').end();
  await until(() => handled.length === 17);
  await use(FIRST, path, bytes);
  utilization = 1;
  ticks = 0;
  // The limit falls to 2, so that an equal share is the one request that each of them has in flight.
  await until(() => ticks > 10);
  let isAnswered = false;
  ask(FIRST, '/now')
    .once('response', () => (isAnswered = true))
    .end();
  expect((await answerTo(ask(SECOND, '/now'))).statusCode).toBe(200);
  expect(isAnswered).toBe(false);
});

it('passes a request that has waited to the handler with its body', async () => {
  await fill();
  const waiting = ask(FIRST, '/now', { 'content-length': '4' }, 'POST');
  waiting.write('body');
  const answered = once(waiting.end(), 'response') as Promise<[IncomingMessage]>;
  for (const response of handled) response.end();
  const [response] = await answered;
  const [body] = (await once(response, 'data')) as [Buffer];
  expect([response.statusCode, String(body)]).toEqual([200, 'body']);
});

it('does not count requests whose body has not arrived', async () => {
  ask(SECOND, '/second').end();
  await until(() => handled.length === 1);
  for (let n = 0; n < 40; n++) ask(FIRST, '/half', { 'content-length': '10' }, 'POST').write('half');
  await until(() => received === 41);
  const answers = await Promise.all(Array.from({ length: 10 }, () => answerTo(ask(FIRST, '/now'))));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(answers.map(() => 200));
});

it('does not count responses that were released, such as event streams', async () => {
  await fill();
  const waiting = answerTo(ask(FIRST, '/now'));
  for (const response of handled) {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    releaseSlot(response);
  }
  expect((await waiting).statusCode).toBe(200);
});

// CVE-2023-44487
it.each([
  [
    'after their client disconnects',
    async () => {
      for (const each of open.slice(1, 17)) each.destroy();
      await until(() => handled.every(({ destroyed }, index) => destroyed || index === 0));
    },
  ],
  [
    'behind a response that says only that the operation was stopped',
    async () => {
      for (const response of handled.slice(1)) {
        abandonSlot(response);
        response.end();
      }
      await until(() => handled.every(({ writableFinished }, index) => writableFinished || index === 0));
    },
  ],
])('counts requests that have begun %s, since the work for them goes on', async (_, giveUp) => {
  await fill();
  await giveUp();
  let isAnswered = false;
  ask(FIRST, '/now')
    .once('response', () => (isAnswered = true))
    .end();
  ask(FIRST, '/now')
    .once('response', () => (isAnswered = true))
    .end();
  expect((await answerTo(ask('203.0.113.3', '/now'))).statusCode).toBe(200);
  expect(isAnswered).toBe(false);
  // After two seconds they no longer count: they may wait for something other than this process.
  time = 2000;
  await until(() => isAnswered);
});

it('answers 503 with Retry-After when too many requests of a client wait', async () => {
  await fill();
  const answers = Array.from({ length: MAX_WAITING + 20 }, () => answerTo(ask(FIRST, '/now')));
  const { statusCode, headers } = await Promise.race(answers);
  expect(statusCode).toBe(503);
  expect(headers['retry-after']).toBe('1');
});
