/** Attacks by REST requests that are well-formed HTTP. */
import { type Attack, type Field, demand, requireOwn, restAttack, scaled } from '../attack.ts';
import { type ServiceName, findAccount } from '../target/system.ts';
import { checkRefusal } from '../wire/envelope.ts';
import { type Sent, ask, countStatuses, inParallel } from '../wire/http.ts';
import type { RawReply } from '../wire/http-reply.ts';

const JSON_TYPE = ['Content-Type', 'application/json'];
/** Below the limit of all headers together, which is 16 KiB. */
const HEADER_BYTES = 15_000;

async function send(
  { connections, addresses }: Field,
  requests: readonly Sent[],
  { target = 'rest-bridge', width = 8 }: { target?: ServiceName; width?: number } = {},
): Promise<RawReply[]> {
  return inParallel(requests.length, width, async (n) => {
    const sent = requests[n] as Sent;
    const reply = await ask(connections, addresses[target], sent);
    demand(reply.status > 0, `${sent.path.slice(0, 80)}: no answer`);
    if (reply.status !== 200) checkRefusal(reply, `${sent.method ?? ''} ${sent.path.slice(0, 80)}`);
    return reply;
  });
}

const times = (count: number, make: (index: number) => Sent): Sent[] => Array.from({ length: count }, (_, index) => make(index));

/** Paths on which a regular expression may backtrack. */
async function slashes(field: Field): Promise<string> {
  const paths = [
    `/a${'/'.repeat(8000)}a/`,
    `/${'/'.repeat(8000)}`,
    `/v1${'/a'.repeat(3500)}/`,
    `/v1/${'%2f'.repeat(2500)}x`,
    `/v1/${'.'.repeat(7000)}`,
    `/v1/${'../'.repeat(2500)}`,
    `/v1/users/${'a-'.repeat(3500)}`,
  ];
  return countStatuses(
    await send(
      field,
      times(scaled(field, 1200), (n) => ({ path: paths[n % paths.length] ?? '' })),
      { width: 16 },
    ),
  );
}

/** A redirect must stay on the host that the client named. */
async function redirects(field: Field): Promise<string> {
  const evil = [
    '/\\evil.example/',
    '//evil.example/',
    '/\\/evil.example/',
    '/%5cevil.example/',
    '/%2f%2fevil.example/',
    '/\tevil.example/',
    '/.//evil.example/',
    '///evil.example//',
    '/v1/\\evil.example/',
    'http://evil.example/v1/users/',
    '/%0d%0aLocation:%20http://evil.example/',
    '/v1/..//evil.example/',
    '/;//evil.example/',
  ];
  const seen: string[] = [];
  for (const path of evil) {
    for (const host of ['localhost', 'evil.example', 'evil.example:80@localhost']) {
      const connection = await field.connections.open(field.addresses['rest-bridge']);
      connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      await connection.until((bytes) => bytes.includes('\r\n\r\n'), 10_000);
      const head = connection.received().toString('latin1');
      const location = /^location:(.*)$/im.exec(head)?.[1]?.trim();
      if (location === undefined) continue;
      seen.push(location);
      // WHATWG URL: browsers read a backslash as a slash and leave out tabs.
      const to = new URL(location, 'http://localhost');
      demand(to.hostname === 'localhost', `${path} is redirected to ${location}`);
    }
  }
  return `${evil.length * 3} paths, ${seen.length} redirects`;
}

async function bodies(field: Field): Promise<string> {
  const sizes = [1_048_575, 1_048_576, 1_048_577, 1_048_323, 1_048_322, 1_048_000];
  const exact = (size: number) => `{"email":"a@example.org","password":"x","a":"${'x'.repeat(size - 46)}"}`.padEnd(size);
  const hostile = [
    '['.repeat(500_000),
    '{"a":'.repeat(100_000),
    '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"email":"a"}',
    '{"email":"\u0000","name":"\ud800","password":"xxxxxxxxxx"}',
    `{${Array.from({ length: 60_000 }, (_, i) => `"k${i}":1`).join(',')}}`,
    `[${'1e400,'.repeat(1000)}1]`,
    '9'.repeat(900_000),
    `"${'\\u0000'.repeat(100_000)}"`,
    ' '.repeat(1_000_000),
    '\ufeff{}',
    '{"a":1}{"a":2}',
    'null',
    '',
  ];
  const paths = ['/v1/users', '/v1/auth/login', '/v2/users'];
  const sent = paths.flatMap((path) => [...sizes.map(exact), ...hostile].map((body): Sent => ({ path, headers: JSON_TYPE, body })));
  return countStatuses(await send(field, sent, { width: 4 }));
}

async function headers(field: Field): Promise<string> {
  const long = (part: string) => part.repeat(Math.floor(HEADER_BYTES / part.length));
  const values: readonly (readonly [string, string])[] = [
    ['Accept', long('application/json;q=0.1,')],
    ['Accept', long('*/*,')],
    ['Accept', `application/json;${long('a=b;')}`],
    ['Accept', long('"\\')],
    ['Accept-Encoding', long('br;q=0.5,')],
    ['Accept-Language', long('de-DE;q=0.9,')],
    ['Cookie', long('a=b; ')],
    ['Cookie', long('=;')],
    ['If-None-Match', long('"a",')],
    ['If-None-Match', long('W/')],
    ['If-Match', long('"1", ')],
    ['Range', `bytes=${long('0-0,')}0-1`],
    ['Range', `bytes=${long('-')}`],
    ['If-Modified-Since', long('Sun, ')],
    ['Forwarded', long('for=1.1.1.1;')],
    ['X-Forwarded-For', long('127.0.0.1, ')],
    ['API-Version', long('1')],
    ['Prefer', long('a,')],
    ['Content-Type', `application/json;${long(' ')}`],
    ['Authorization', `Bearer ${long(' ')}`],
    ['Authorization', `Bearer${long(' a')}`],
    ['X-Request-ID', long('0-')],
    ['Idempotency-Key', long('k')],
    ['traceparent', long('00-')],
    ['tracestate', long('a=1,')],
    ['baggage', long('a=1,')],
  ];
  const requests = times(scaled(field, 20) * values.length, (n) => ({
    path: '/v1/products?limit=100',
    headers: [...(values[n % values.length] ?? [])],
  }));
  return countStatuses(await send(field, requests, { width: 16 }));
}

async function queries(field: Field): Promise<string> {
  const long = (part: string) => part.repeat(Math.floor(7500 / part.length));
  const texts = [
    `fields=${long('id,')}`,
    `include=${long('author,')}`,
    `sort=${long('name,')}`,
    long('a=1&'),
    long('limit=1&'),
    `q=${long('a ')}`,
    `q=${long('"')}`,
    `q=${long('%25')}`,
    `cursor=${long('A')}`,
    `cursor=${long('%00')}`,
    `__proto__=1&constructor=1&${long('toString=&')}`,
    'page=99999999999999999999',
    'offset=9007199254740993',
    'limit=-1',
    'limit=1e2',
    'page=0',
    `fields[]=${long('a')}`,
    `price_gte=${long('9')}`,
    'createdAt_gte=0000-01-01T00:00:00Z',
    'q=%00',
    'q=%ed%a0%80',
    'q=%',
    `version=${long('2')}`,
  ];
  const paths = ['/v1/products', '/v1/users', '/v1/posts', '/v1/search'];
  const requests = times(scaled(field, 8) * texts.length * paths.length, (n) => ({
    path: `${paths[n % paths.length] ?? ''}?${texts[Math.floor(n / paths.length) % texts.length] ?? ''}`,
  }));
  return countStatuses(await send(field, requests, { width: 8 }));
}

/** Metrics describe the inside of the system, so requests that come through a proxy must not get them. */
async function metrics({ connections, addresses }: Field): Promise<string> {
  const shown: string[] = [];
  for (const name of ['rest-bridge', 'gateway', 'users', 'orders', 'content'] as const) {
    for (const header of [
      ['X-Forwarded-For', '203.0.113.9'],
      ['Forwarded', 'for=203.0.113.9'],
      ['X-Real-IP', '203.0.113.9'],
      ['Via', '1.1 proxy'],
      ['X-Forwarded-Host', 'api.example.org'],
      ['x-forwarded-proto', 'https'],
    ]) {
      const { host, port } = addresses[name];
      const reply = await ask(connections, { host, port }, { path: '/metrics', headers: header });
      if (reply.status === 200 && reply.body.includes('# TYPE')) shown.push(`${name} (${String(header[0])})`);
    }
  }
  demand(shown.length === 0, `/metrics is shown through a proxy: ${shown.join(', ')}`);
  return 'refused with each forwarding header';
}

/** spec §8: one request a key, whatever the key is, and however many come at once. */
async function idempotencyKeys(field: Field): Promise<string> {
  const own = requireOwn(field);
  const ada = findAccount(own, 'ada');
  const token = own.issueToken(ada);
  const keys = [
    '__proto__',
    'constructor',
    '',
    ' ',
    'k'.repeat(255),
    'k'.repeat(256),
    'k'.repeat(5000),
    '\u00e9\u00ff',
    "' OR 1=1 --",
    '"',
    '%00',
  ];
  const payment = JSON.stringify({ amount: 100, currency: 'EUR', customerId: ada.userId });
  const requests = keys.flatMap((key) =>
    times(12, () => ({
      path: '/v1/payments',
      headers: [...JSON_TYPE, 'Authorization', `Bearer ${token}`, 'Idempotency-Key', key],
      body: payment,
    })),
  );
  const replies = await send(field, requests, { width: 12 });
  const made = new Set(
    replies.filter(({ status }) => status === 201).map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id),
  );
  demand(made.size <= keys.length, `${made.size} payments were made with ${keys.length} keys`);
  return `${countStatuses(replies)}; ${made.size} payments`;
}

export const REST_ATTACKS: readonly Attack[] = [
  restAttack('paths made of slashes', slashes, { clause: 'Matching is linear in the path', isLoad: true, isShort: true }),
  restAttack('redirects to another host', redirects, { clause: 'RFC 9110 §15.4: a redirect stays on this host', isShort: true }),
  restAttack('bodies at and beyond every limit', bodies, { clause: 'Bodies have at most 1 MiB (413), 64 levels (400)', isShort: true }),
  restAttack('headers of 15 KiB, each of another kind', headers, {
    clause: 'Headers have at most 16 KiB (431); reading them is linear',
    isLoad: true,
    isShort: true,
  }),
  restAttack('query strings of 7 KiB, each of another kind', queries, {
    clause: 'URLs have at most 8 KiB (414); names come from the schema',
    isLoad: true,
    isShort: true,
  }),
  restAttack('metrics through a proxy', metrics, {
    clause: 'contract §1: /metrics is for loopback peers without forwarding headers',
    isShort: true,
  }),
  restAttack('hostile idempotency keys at once', idempotencyKeys, {
    target: 'orders',
    clause: 'spec §8: one request a key',
    needs: 'own',
    isShort: true,
  }),
];
