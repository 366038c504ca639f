/** Thousands of random HTTP/1.1 requests over raw sockets, ill-framed ones among them (RFC 9112). */
import { type Attack, type Field, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { checkRefusal } from '../wire/envelope.ts';
import { countStatuses, inParallel } from '../wire/http.ts';
import { readReplies } from '../wire/http-reply.ts';
import type { Random } from '../wire/random.ts';

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'QUERY',
  'PROPFIND',
  'PRI',
  'SETUP',
  'get',
  'G\tET',
  'X'.repeat(200),
  '',
  '\x00',
];
const TARGETS = [
  '/',
  '/v1/products',
  '/v1/users/usr_1',
  '/v1/posts?limit=2',
  '/graphql',
  '/graphql?query={__typename}',
  '/graphql?query=%7B',
  '/livez',
  '*',
  '//',
  '/%00',
  '/%',
  '/v1/%ff',
  '/v1/users/%2e%2e',
  '/v9/users',
  '/api/v1/products',
  'http://localhost/v1/products',
  'http://evil.example/graphql',
  'https://localhost:1/',
  'localhost:80',
  '/v1/products#a',
  '/v1/pro ducts',
  '/\u00e9',
  '/v1/search?q=a&q=b',
  `/${'a'.repeat(9000)}`,
  '?',
  '',
  '/v1/orders',
  '/v1/payments',
  '/docs',
  '/v1/openapi.json',
];
const VERSIONS = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', 'http/1.1', 'HTTP/1.10', ''];
const BODIES = [
  '',
  '{}',
  '{"query":"{__typename}"}',
  '{"query":"{',
  '[{"query":"{__typename}"}]',
  'null',
  '\u0000',
  '{"email":"a@example.org","name":"A","password":"short"}',
  '{"query":"{me{id}}","variables":[]}',
  'query=1',
  '['.repeat(200),
  '"\ud800"',
];
const NAMES = [
  'Accept',
  'Accept-Encoding',
  'Content-Type',
  'Content-Encoding',
  'Authorization',
  'Cookie',
  'Origin',
  'Range',
  'If-Match',
  'If-None-Match',
  'If-Modified-Since',
  'If-Unmodified-Since',
  'If-Range',
  'Expect',
  'Upgrade',
  'Connection',
  'TE',
  'Trailer',
  'X-Request-ID',
  'API-Version',
  'Idempotency-Key',
  'X-HTTP-Method-Override',
  'X-Forwarded-For',
  'Forwarded',
  'traceparent',
  'Prefer',
  'Max-Forwards',
  'Proxy-Authorization',
  '__proto__',
  'constructor',
  'Host',
  'X-GraphQL-Event-Stream-Token',
  'Sec-WebSocket-Key',
  'HTTP2-Settings',
  'Trestle-Plan',
  'Date',
];
const VALUES = [
  '',
  '*/*',
  'application/json',
  'application/json; charset=utf-16',
  'text/event-stream',
  'multipart/mixed;subscriptionSpec=1.0',
  'multipart/form-data; boundary=a',
  'gzip',
  'br;q=0',
  'identity;q=0',
  'Bearer a.b.c',
  'Basic YTpi',
  'bytes=0-0',
  'bytes=5-1',
  'bytes=-',
  '"1"',
  'W/"1"',
  '*',
  '1',
  '2',
  '0',
  '-1',
  'Sun, 06 Nov 1994 08:49:37 GMT',
  '100-continue',
  'websocket',
  'h2c',
  'close',
  'keep-alive',
  'trailers',
  'a'.repeat(300),
  '"',
  '\\',
  '\u00e9',
  'a\x00b',
  'a\x01b',
  'null',
  'http://evil.example',
  '00-0-0-0',
];

/** How a body is framed: rightly, or in one of the ways that request smuggling uses. */
const FRAMINGS: readonly ((body: string, random: Random) => readonly [lines: string[], bytes: string])[] = [
  (body) => [[`Content-Length: ${Buffer.byteLength(body, 'latin1')}`], body],
  (body) => [[`Content-Length: ${Buffer.byteLength(body, 'latin1')}`], body],
  (body) => [['Transfer-Encoding: chunked'], toChunks(body)],
  (body) => [['Transfer-Encoding: chunked', `Content-Length: ${body.length}`], toChunks(body)],
  (body) => [[`Content-Length: ${body.length}`, 'Transfer-Encoding: chunked'], body],
  (body) => [[`Content-Length: ${body.length}`, `Content-Length: ${body.length + 1}`], body],
  (body) => [[`Content-Length: ${body.length}, ${body.length}`], body],
  (body, random) => [[`Content-Length: ${random.pick(['-1', '+5', '0x5', '5 ', '1e3', '99999999999999999999', '', 'abc'])}`], body],
  (body, random) => [
    [
      `Transfer-Encoding: ${random.pick(['xchunked', 'chunked, identity', 'identity', 'gzip, chunked', ' chunked', 'CHUNKED', 'chunked\x0b', '\tchunked', 'chunked;a=b'])}`,
    ],
    toChunks(body),
  ],
  (body) => [['Transfer-Encoding : chunked'], toChunks(body)],
  (body) => [['Transfer-Encoding:\r\n chunked'], toChunks(body)],
  (body) => [['X: a\r\n folded', `Content-Length: ${body.length}`], body],
  (_, random) => [
    ['Transfer-Encoding: chunked'],
    random.pick([
      'zz\r\nabc\r\n0\r\n\r\n',
      '-1\r\n\r\n',
      'fffffffffffffffff\r\na',
      '5;ext="a"\r\nabcde\r\n0\r\n\r\n',
      '5\nabcde\n0\n\n',
      '0\r\nTrailer: a\r\n\r\n',
      '3\r\nabcd\r\n0\r\n\r\n',
      `1;${'e'.repeat(20_000)}\r\na\r\n0\r\n\r\n`,
    ]),
  ],
  (body) => [[], body],
];

function toChunks(body: string): string {
  return body === '' ? '0\r\n\r\n' : `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
}

function makeRequest(random: Random): Buffer {
  const [framing, bytes] = random.pick(FRAMINGS)(random.pick(BODIES), random);
  const lines = Array.from(
    { length: random.upTo(6) },
    () => `${random.pick(NAMES)}${random.chance(0.02) ? ' ' : ''}: ${random.pick(VALUES)}`,
  );
  if (random.chance(0.95))
    lines.unshift(`Host: ${random.pick(['localhost', 'localhost', 'localhost:3000', '', 'a b', 'evil.example', '[::1]', 'a,b', '@'])}`);
  if (random.chance(0.5)) lines.push('Content-Type: application/json');
  const end = random.chance(0.97) ? '\r\n' : random.pick(['\n', '\r', '\r\r\n']);
  const version = random.chance(0.9) ? 'HTTP/1.1' : random.pick(VERSIONS);
  const text = [`${random.pick(METHODS)} ${random.pick(TARGETS)} ${version}`, ...lines, ...framing, '', ''].join(end) + bytes;
  return Buffer.from(text, 'latin1');
}

/** Flips some of its bytes. */
function damage(bytes: Buffer, random: Random): Buffer {
  const copy = Buffer.from(bytes);
  for (let n = random.upTo(4); n > 0; n--) copy[random.upTo(copy.length - 1)] = random.upTo(255);
  return random.chance(0.2) ? copy.subarray(0, random.upTo(copy.length)) : copy;
}

/** How long a connection may stay open after the client has sent all and said so. */
const CLOSE_MS = 10_000;

async function fuzz(field: Field, target: ServiceName): Promise<string> {
  const { random, connections, addresses } = field;
  const count = scaled(field, 5000);
  const requests = Array.from({ length: count }, () => {
    const whole = Buffer.concat(Array.from({ length: random.chance(0.15) ? 1 + random.upTo(5) : 1 }, () => makeRequest(random)));
    return random.chance(0.1) ? damage(whole, random) : whole;
  });
  const hung: string[] = [];
  const statuses: { status: number }[] = [];
  await inParallel(count, 24, async (n) => {
    const bytes = requests[n] as Buffer;
    const connection = await connections.open(addresses[target]);
    connection.socket.write(bytes);
    connection.socket.end();
    await connection.until(() => false, CLOSE_MS);
    const about = JSON.stringify(bytes.toString('latin1').slice(0, 400));
    if (!connection.isClosed()) {
      connection.socket.destroy();
      // A stream of events is one that stays open.
      if (!/text\/event-stream|multipart\/mixed/.test(connection.received().toString('latin1', 0, 1000))) hung.push(about);
    }
    // Of several requests on a connection only the first one's method is certain.
    const isHead = () => bytes.subarray(0, 5).toString() === 'HEAD ';
    const [first] = readReplies(connection.received(), isHead);
    statuses.push({ status: first?.status ?? 0 });
    if (first) checkRefusal(first, about);
  });
  demand(hung.length === 0, `${hung.length} connections stayed open for ${CLOSE_MS / 1000} s, the first: ${hung[0] ?? ''}`);
  return `${count} requests: ${countStatuses(statuses)}`;
}

/** The second request hides in the first one's body: it must never be answered. */
async function smuggle({ connections, addresses }: Field, target: ServiceName): Promise<string> {
  const hidden = 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Hidden: 1\r\n\r\n';
  const path = target === 'gateway' ? '/graphql' : '/v1/auth/login';
  const forms = [
    `Content-Length: ${hidden.length + 5}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding:\r\n chunked\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    `Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
    `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
    `Transfer-Encoding: chunked\r\n\r\n0\n\n${hidden}`,
    `Transfer-Encoding: chunked\r\n\r\n0;\n${hidden}\r\n0\r\n\r\n`,
    `X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
    `Expect: 100-continue\r\nContent-Length: ${hidden.length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  ];
  for (const form of forms) {
    const connection = await connections.open(addresses[target]);
    connection.socket.end(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${form}`);
    await connection.until(() => false, CLOSE_MS);
    const text = connection.received().toString('latin1');
    demand(!text.includes('"live"'), `the hidden request was answered: ${JSON.stringify(form.slice(0, 120))}`);
  }
  return `${forms.length} forms of smuggling, none answered`;
}

const TARGETED = ['rest-bridge', 'gateway'] as const;
export const HTTP_ATTACKS: readonly Attack[] = [
  ...TARGETED.map((target): Attack => ({
    name: `5,000 random HTTP requests at ${target}`,
    target,
    family: 'HTTP',
    clause: 'Never a 5xx but 501, 503, 505; never a hang; one envelope that tells nothing (spec §7.1)',
    isShort: true,
    run: (field) => fuzz(field, target),
  })),
  ...TARGETED.map((target): Attack => ({
    name: `request smuggling at ${target}`,
    target,
    family: 'HTTP',
    clause: 'RFC 9112 §6.3, §11.2: a message of unclear length ends the connection',
    isShort: true,
    run: (field) => smuggle(field, target),
  })),
];
