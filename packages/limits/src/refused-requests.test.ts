/** What a real server says of the limits to requests that it refuses before any handler (spec §8): over bare connections, TLS and HTTP/2. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, connect as connectHttp2 } from 'node:http2';
import { type Socket, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { type Service, startService } from '@trestle/service';
import { createEdge } from '@trestle/service/edge/edge';
import { createProbes } from '@trestle/service/probes/probes';
import { setLateHeaders } from '@trestle/service/messages/response-headers';
import { createSelfSigned } from '@trestle/service/testing/test-authority';
import { parseTrustedProxies } from '@trestle/service/clients/trusted-proxies';
import { type RateLimits, createRateLimits } from './settings.ts';

const LIMIT = 100;
const log = createLog({ service: 'test', level: 'silent' });
const CALLER = { userId: 'usr_1', sessionId: null, clientId: null, plan: 'pro', requestsPerMinute: null } as const;

let service: Service;
let rateLimits: RateLimits;
let cert: string;
let handled: string[];
let release: () => void;
beforeEach(async () => {
  handled = [];
  await start({ hasTls: false });
});
afterAll(() => stop());

/** Starts a server whose counts are those of no test before. Requests with a credential are those of one account. */
async function start({ hasTls }: { hasTls: boolean }): Promise<void> {
  await stop();
  const settings = { RATE_LIMIT_ANONYMOUS_PER_MIN: LIMIT, RATE_LIMIT_FREE_PER_MIN: LIMIT, RATE_LIMIT_PRO_PER_MIN: 1000 };
  rateLimits = await createRateLimits({ ...settings, REDIS_URL: undefined }, log);
  const tls = hasTls ? await createSelfSigned() : undefined;
  cert = tls?.cert ?? '';
  service = await startService({
    log,
    port: 0,
    host: '127.0.0.1',
    probes: createProbes({ isReady: () => true }),
    tls,
    limits: { headersTimeoutMs: 1500 },
    edge: createEdge({
      proxies: parseTrustedProxies('127.0.0.1'),
      publicUrls: [],
      origins: ['https://app.example.com'],
      methods: ['GET'],
    }),
    rateLimits,
    upgrade: (_, socket) => socket.destroy(),
    handle: (request, response) => {
      handled.push(request.url ?? '');
      const quota = rateLimits.open(request, request.headers.authorization === undefined ? null : CALLER);
      setLateHeaders(response, (status) => quota.headersFor(status));
      quota.begin((fault) => {
        const end = () => response.writeHead(fault ? 429 : 200).end(request.url);
        if (request.url === '/held') release = end;
        else request.resume().on('end', end);
      });
    },
  });
}

async function stop(): Promise<void> {
  // Undefined before the first start.
  await (service as Service | undefined)?.stop();
  (rateLimits as RateLimits | undefined)?.close();
}

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly left: number;
}

/** Returns the responses in what came over a connection. */
function parseAnswers(text: string): Answer[] {
  return text
    .split(/(?=HTTP\/1\.1 \d)/)
    .filter((each) => each !== '')
    .map((head) => ({
      status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
      head,
      left: Number(/\r\nx-ratelimit-remaining: (\d+)\r\n/i.exec(head)?.[1] ?? NaN),
    }));
}

/** Sends bytes, and returns what came back until the server closed the connection. */
async function exchange(text: string, socket: Socket = connect(service.port, '127.0.0.1')): Promise<Answer[]> {
  let received = '';
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
  if (text !== '') socket.write(text);
  await once(socket, 'close');
  return parseAnswers(received);
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
/** What an address has left, by a response that does not count. */
async function leftOf(headers = ''): Promise<number> {
  const [answer] = await exchange(`GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`);
  return answer?.left ?? NaN;
}

/** Refused by the parser, so that there is no request and no response. */
const BROKEN = 'GET / HTTP/1.1\r\nHost: a\r\nX A: b\r\n\r\n';
const UPGRADE = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';

describe('a request that is refused before its handler', () => {
  it.each([
    ['a header that is none', BROKEN, 400],
    ['no version', 'GET /\r\n\r\n', 400],
    ['no Host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['an unknown expectation', get('/', 'Expect: tea\r\n'), 400],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 501],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 501],
    ['headers that are too large', get('/', `X-A: ${'a'.repeat(17_000)}\r\n`), 431],
    ['headers that never end', 'GET / HTTP/1.1\r\nHost: a\r\n', 408],
    ['a WebSocket without Host', `GET /graphql HTTP/1.1\r\n${UPGRADE}\r\n`, 400],
    ['a WebSocket of a foreign origin', get('/graphql', `${UPGRADE}Origin: https://evil.example\r\n`), 403],
    ['an invalid credential beside it', get('/', 'Authorization: Bearer x\r\nExpect: tea\r\n'), 400],
  ])('has the headers of the limit and counts for the address, with %s', async (_, text, status) => {
    const [answer, ...more] = await exchange(text);
    expect([answer?.status, more.length]).toEqual([status, 0]);
    expect(answer?.head).toMatch(/\r\nx-ratelimit-limit: 100\r\nx-ratelimit-remaining: 99\r\nx-ratelimit-reset: \d{10}\r\n/i);
    expect(answer?.head).toMatch(/\r\nratelimit-policy: "anonymous";q=100;w=60\r\nratelimit: "anonymous";r=99;t=(?:59|60)\r\n/i);
    expect(answer?.head).toMatch(/\r\ncontent-security-policy: default-src 'none'/i);
    expect(await leftOf()).toBe(99);
    expect(handled).toEqual([]);
  });

  it('counts an address behind a trusted proxy where the headers can be read, an IPv6 /64 network as one', async () => {
    const refuse = (from: string) => exchange(get('/', `X-Forwarded-For: ${from}\r\nExpect: tea\r\n`));
    await refuse('2001:db8:1:1::1');
    expect((await refuse('2001:db8:1:1:ffff::2'))[0]?.left).toBe(98);
    expect((await refuse('2001:db8:1:2::1'))[0]?.left).toBe(99);
    expect((await refuse('203.0.113.1'))[0]?.left).toBe(99);
    expect(await leftOf()).toBe(100);
  });

  it('is counted once, however much is pipelined after it', async () => {
    expect(await exchange('BREW / HTTP/1.1\r\n\r\n'.repeat(50))).toMatchObject([{ status: 501, left: 99 }]);
    expect(await exchange('GET / HTTP/1.1\r\n\r\n'.repeat(50))).toMatchObject([{ status: 400, left: 98 }]);
    expect(await leftOf()).toBe(98);
  });

  it('is answered after the request before it on the connection', async () => {
    expect(await exchange(`${get('/a')}GET /b HTTP/1.1\r\n\r\n`)).toMatchObject([{ status: 200 }, { status: 400, left: 98 }]);
    expect(await exchange(`${get('/held')}${BROKEN}`, releaseLater())).toMatchObject([{ status: 200, left: 97 }]);
    const socket = connect(service.port, '127.0.0.1');
    socket.write(get('/c'));
    socket.once('data', () => socket.write(BROKEN));
    expect(await exchange('', socket)).toMatchObject([
      { status: 200, left: 96 },
      { status: 400, left: 95 },
    ]);
    expect(handled).toEqual(['/a', '/held', '/c']);
  });

  it('keeps its status when the address has nothing left, and 1,000 of them leave no more to the address', async () => {
    for (let batch = 0; batch < 50; batch++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => exchange(BROKEN)));
      const statuses = answers.map(([answer]) => answer?.status);
      expect(statuses).toEqual(Array(20).fill(400));
      if (batch >= 5) expect(answers.map(([answer]) => answer?.left)).toEqual(Array(20).fill(0));
    }
    const [refused] = await exchange(get('/', 'Connection: close\r\n'));
    expect([refused?.status, refused?.left]).toEqual([429, 0]);
    // The count of an account, and of another address, goes on.
    const [own] = await exchange(get('/', 'Authorization: Bearer x\r\nConnection: close\r\n'));
    const [other] = await exchange(get('/', 'X-Forwarded-For: 203.0.113.2\r\nConnection: close\r\n'));
    expect([own?.status, other?.status]).toEqual([200, 200]);
  });

  it('has the limit of the account, and is counted once, when its body breaks after the caller was known', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.write('POST /body HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n');
    while (handled.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const [answer] = await exchange('zz\r\n', socket);
    expect([answer?.status, answer?.left]).toEqual([400, 999]);
    expect(answer?.head).toMatch(/ratelimit-policy: "pro";q=1000/i);
    expect(await leftOf()).toBe(100);
  });

  it('does not count a connection on which nothing was sent', async () => {
    const [answer] = await exchange('');
    expect([answer?.status, answer?.left]).toEqual([408, 100]);
    expect(await leftOf()).toBe(100);
  });
});

/** Opens a connection whose held request is answered once its handler has it. */
function releaseLater(): Socket {
  const socket = connect(service.port, '127.0.0.1');
  const look = () => {
    if (handled.includes('/held')) release();
    else setImmediate(look);
  };
  look();
  return socket;
}

describe('a refused request over TLS', () => {
  beforeEach(() => start({ hasTls: true }));

  it('has the headers and is counted with HTTP/1.1, also where plain HTTP was sent', async () => {
    const secure = () => connectTls({ port: service.port, host: '127.0.0.1', ca: cert, checkServerIdentity: () => undefined });
    expect(await exchange(BROKEN, secure())).toMatchObject([{ status: 400, left: 99 }]);
    expect(await exchange('BREW / HTTP/1.1\r\n\r\n')).toMatchObject([{ status: 501, left: 98 }]);
    const plain = await exchange(get('/graphql', UPGRADE));
    expect(plain).toMatchObject([{ status: 400, left: 98 }]);
    // Nothing was sent on the connection but its handshake.
    expect(await exchange('', secure())).toMatchObject([{ status: 408, left: 98 }]);
  });

  it('has the headers and is counted with HTTP/2', async () => {
    const session = connectHttp2(`https://localhost:${String(service.port)}`, { ca: cert });
    const send = async (headers: Record<string, string>) => {
      const stream = session.request(headers).end();
      const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders & { ':status': number }];
      stream.resume();
      return [received[':status'], received['x-ratelimit-remaining'], received['ratelimit-policy']];
    };
    const policy = '"anonymous";q=100;w=60';
    expect(await send({ ':path': '/', ':method': 'BREW' })).toEqual([501, '99', policy]);
    expect(await send({ ':path': '/', ':authority': 'a', host: 'b' })).toEqual([400, '98', policy]);
    expect(await send({ ':path': '/', expect: 'tea' })).toEqual([400, '97', policy]);
    expect(await send({ ':path': '/', 'x-a': 'a'.repeat(17_000) })).toEqual([431, '96', policy]);
    expect(await send({ ':method': 'CONNECT', ':authority': 'a:1' })).toEqual([501, '95', policy]);
    expect(await send({ ':path': '/' })).toEqual([200, '94', policy]);
    session.destroy();
  });
});
