/** Random and hostile bytes at two bridges before the same gateway: one with `REQUEST_READER=lean`, one with the parser of Node.js (ADR 55). */
import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readMetric } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';

let stack: LeasedStack;
let ports: readonly number[] = [];
let leanUrl = '';
beforeAll(async () => {
  stack = await leaseStack();
  const { id } = await stack.createAccount('Ada');
  const bridges = await Promise.all(['lean', 'node'].map((reader) => stack.startBridge({ REQUEST_READER: reader })));
  ports = bridges.map(({ port }) => port);
  leanUrl = bridges[0]?.url ?? '';
  TARGETS.unshift(`/v1/users/${id}`, `/v1/users/${id}?fields=id,name`);
});
afterAll(() => stack.stop());

const ID = '11111111-2222-4333-8444-555555555555';
const READ = `GET /v1/users/${ID} HTTP/1.1\r\nHost: a\r\n\r\n`;
const LAST = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
/** Ends whatever a server may still wait for: lines, a head, or a body of the lengths below. */
const END = `\r\n\r\n${LAST.repeat(4)}`;

const METHODS = ['HEAD', 'POST', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'PRI', 'get', 'GET\0', ''];
const TARGETS = [
  ...[
    `/v1/users/${ID}`,
    '/v1/users?first=2',
    '/v1/posts?first=0',
    '/v1/products?first=1&first=2',
    '/v1/orders',
    '/v1/users/%2e%2e',
    '/v1/users/x/avatar',
  ],
  ...[
    '/v1/users/%00',
    '/v1/users/\0',
    '/v1/users/\u00e9',
    '/v1/users/a b',
    '/v1/users/\t',
    '/v1/users/[',
    '/v1/users/a|b',
    '/v1/users/a\\b',
    '/v1/users/a#b',
  ],
  ...[
    '/v1/users//',
    '//v1/users/x',
    '/v1/users/..;/',
    '/v1/users/x?',
    '/v1/users?[=1',
    '/v1/users/%zz',
    '/v1/events',
    '/livez',
    '/',
    '*',
    '?',
    '',
  ],
  ...[
    `http://b/v1/users/${ID}`,
    'https://a:99999/v1/users/x',
    'a:80',
    '/v2/users/x',
    `/v1/users/${'a'.repeat(9000)}`,
    `/v1/users/${'%41'.repeat(2600)}`,
  ],
];
const VERSIONS = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1', 'HTTP/1.1 ', ' HTTP/1.1', 'HTTP/1.1\t', ''];
const FIELDS = [
  ...['Host: b', 'Host:', 'host: a', 'Host : a', 'Host: a, b', 'Host: a@b', 'Host: \u00e9'],
  ...[
    'Content-Length: 0',
    'Content-Length: 3',
    'Content-Length: 3, 3',
    'Content-Length: -1',
    'Content-Length: 0x3',
    'Content-Length:\t3\t',
    'Content-Length:',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: identity',
    'Transfer-Encoding:\u000bchunked',
    'Transfer-Encoding : chunked',
    'Transfer-Encoding:\r\n chunked',
  ],
  ...[
    'Expect: 100-continue',
    'Expect: x',
    'Upgrade: websocket\r\nConnection: Upgrade',
    'Upgrade: h2c',
    'HTTP2-Settings: x',
    'TE: trailers',
    'Trailer: a',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive, close',
    'Connection: Host',
    'Keep-Alive: timeout=1',
    'Proxy-Connection: close',
    'Content-Encoding: gzip',
  ],
  ...[
    'X-A: b\r\n folded',
    'X-A:\r\n\tfolded',
    ' X-A: b',
    '\tX-A: b',
    'X-A: b\nX-B: c',
    'X-A: b\rX-B: c',
    'X-A: a\0b',
    'X-A: \u00e9',
    'X-A: \u007f',
    'X-A: \u0001',
  ],
  ...[
    ': a',
    'X-A',
    'X A: b',
    'X\0A: b',
    'X-\u00e9: b',
    'X-A:',
    'X-A:  b \t ',
    '__proto__: a',
    'constructor: a',
    'toString: a',
    'Cookie: a=1',
    'Cookie: b=2',
  ],
  ...[
    'Authorization: Bearer x',
    'Authorization: Bearer x\r\nAuthorization: Bearer y',
    'X-API-Key: x',
    'Accept: text/event-stream',
    'Accept: */*',
    'Accept-Encoding: br',
  ],
  ...[
    'If-None-Match: *',
    'If-None-Match: "a"\r\nIf-None-Match: "b"',
    'Range: bytes=0-1',
    'API-Version: 2',
    'X-Forwarded-For: 1.2.3.4',
    `X-A: ${'a'.repeat(7900)}`,
  ],
  ...[
    `X-A: ${'a'.repeat(17_000)}`,
    `X-Request-ID: ${ID}`,
    'X-HTTP-Method-Override: DELETE',
    'Origin: https://a.example',
    'Sec-Fetch-Site: cross-site',
  ],
];
/** Numbers of further fields: below and above what the lean reader reads, and above what Node.js counts by default. */
const COUNTS = [60, 63, 64, 70, 1100];
const TRAILING = [
  '',
  READ,
  READ.slice(0, 40),
  LAST,
  'abc',
  '\0',
  '\r\n',
  '\n',
  '0\r\n\r\n',
  '3\r\nabc\r\n0\r\n\r\n',
  'abcGET /v1 HTTP/1.1\r\n\r\n',
  'z\r\n',
];

/** Mostly the first: with several faults at once nearly all requests would be refused for the same reason. */
const usually = <T>(usual: T, others: readonly T[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

/** The parts in which the bytes of a connection are sent. */
const connections = () =>
  fc
    .record({
      warm: fc.boolean(),
      method: usually('GET', METHODS),
      target: fc.oneof({ weight: 1, arbitrary: fc.constant(TARGETS[0] as string) }, { weight: 1, arbitrary: fc.constantFrom(...TARGETS) }),
      version: usually('HTTP/1.1', VERSIONS),
      host: usually('Host: a\r\n', ['']),
      fields: fc.array(fc.constantFrom(...FIELDS), { maxLength: 2 }),
      count: usually(0, COUNTS),
      end: usually('\r\n', ['\n', '\r', '\r\r\n']),
      trailing: usually('', TRAILING),
      before: usually('', ['\r\n', '\n', '\r\n\r\n', ' ', '\0', '\u0016\u0003\u0001\u0002']),
      cuts: fc.array(fc.nat(400), { maxLength: 2 }),
      damage: usually(undefined, [0, 1, 9, 10, 11, 13, 32, 35, 44, 58, 59, 127, 128, 255]),
      damagedAt: fc.nat(120),
    })
    .map(({ warm, method, target, version, host, fields, count, end, trailing, before, cuts, damage, damagedAt }) => {
      const more = Array.from({ length: count }, (_, i) => `X-${String(i)}: a`);
      const lines = [`${method} ${target} ${version}`, ...(host === '' ? [] : ['Host: a']), ...fields, ...more];
      const whole = `${before}${lines.map((line) => line + end).join('')}${end}${trailing}`;
      const text = damage === undefined ? whole : whole.slice(0, damagedAt) + String.fromCharCode(damage) + whole.slice(damagedAt + 1);
      const at = [0, ...cuts.filter((cut) => cut > 0 && cut < text.length).sort((a, b) => a - b), text.length];
      const parts = at.slice(1).map((to, i) => text.slice(at[i], to));
      return [...(warm ? [READ] : []), ...parts, END].filter((part) => part !== '');
    });

it('gets the same bytes from both readers, whatever it sends and wherever it is cut', async () => {
  const before = await readMetric(leanUrl, 'trestle_lean_requests_total');
  const statuses = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(connections(), { minLength: 20, maxLength: 20 }), async (batch) => {
      const results = await Promise.all(batch.map((parts) => exchangeBoth(parts)));
      for (const { node } of results)
        for (const [, status = ''] of node.matchAll(/HTTP\/1\.1 (\d{3}) /g)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
      for (const { parts, lean, node } of results) if (lean !== node) expectSame(await exchangeAgain(parts));
    }),
    { numRuns: 12, endOnFailure: true },
  );
  // The bytes are varied enough: requests that succeed, and refusals of several kinds.
  for (const status of ['200', '400', '404']) expect(statuses.get(status)).toBeGreaterThan(0);
  expect(await readMetric(leanUrl, 'trestle_lean_requests_total')).toBeGreaterThan(before + 50);
});

interface Exchanged {
  readonly parts: readonly string[];
  readonly lean: string;
  readonly node: string;
}

async function exchangeBoth(parts: readonly string[]): Promise<Exchanged> {
  const [lean = '', node = ''] = await Promise.all(ports.map((port) => exchange(port, parts)));
  return { parts, lean, node };
}

/**
 * Sends the bytes alone, and up to five times: the response to a request may come before or after a fault in the bytes behind it, as the database takes
 * more or less time. A difference between the readers would be there each time.
 */
async function exchangeAgain(parts: readonly string[]): Promise<Exchanged> {
  let exchanged = await exchangeBoth(parts);
  for (let more = 0; more < 4 && exchanged.lean !== exchanged.node; more++) exchanged = await exchangeBoth(parts);
  return exchanged;
}

function expectSame({ parts, lean, node }: Exchanged): void {
  expect({ parts, answer: lean }).toEqual({ parts, answer: node });
}

/** Sends the parts, each when the server has read the one before, and returns what comes until the server closes the connection. */
async function exchange(port: number, parts: readonly string[]): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => undefined);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await once(socket, 'connect');
  for (const part of parts) {
    if (socket.readableEnded || socket.destroyed) break;
    socket.write(part, 'latin1');
    // Only an answered read leaves the next part to the same reader.
    if (part === READ) await Promise.race([once(socket, 'data'), once(socket, 'close')]);
    await ping(port);
  }
  await isClosed(socket);
  return mask(text);
}

async function isClosed(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close');
}

/** An exchange on another connection takes place after the server has read what was sent before. */
async function ping(port: number): Promise<void> {
  await fetch(`http://127.0.0.1:${String(port)}/livez`).then((response) => response.text());
}

/** Removes what differs between two requests: times, random ids, and the requests that are left. */
function mask(text: string): string {
  return text
    .replace(/\r\nDate: [^\r]+/g, '')
    .replace(/\r\n(x-ratelimit-(?:reset|remaining)|ratelimit): [^\r]+/gi, '\r\n$1')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)');
}
