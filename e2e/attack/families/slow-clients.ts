/** Attacks by connections that are opened and then send, read or finish nothing. */
import { type Attack, type Field, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { type Connection, pause } from '../wire/connections.ts';
import { ask, countStatuses, inParallel, toRequest } from '../wire/http.ts';

const ALL = ['rest-bridge', 'gateway', 'users', 'orders', 'content'] as const;
const POST_PATH: Readonly<Record<ServiceName, string>> = {
  'rest-bridge': '/v1/users',
  gateway: '/graphql',
  users: '/graphql',
  orders: '/graphql',
  content: '/graphql',
};
const HELD_MS = 12_000;

/** Opens `count` connections and sends each the same; refused ones are left out. */
async function openMany(
  { connections, addresses }: Field,
  target: ServiceName,
  { count, bytes, isUnread = false }: { count: number; bytes: Buffer | string; isUnread?: boolean },
) {
  const opened = await inParallel(count, 100, async () => {
    const connection = await connections.open(addresses[target], { isUnread }).catch(() => undefined);
    connection?.socket.write(bytes);
    return connection;
  });
  return opened.filter((each): each is Connection => each !== undefined);
}

function countOpen(opened: readonly Connection[]): number {
  return opened.filter(({ isClosed }) => !isClosed()).length;
}

/** RFC 9110 §15.5.9: a server may close what does not arrive; others must not wait for it. */
async function halfBodies(field: Field, target: ServiceName): Promise<string> {
  const head = toRequest({ path: POST_PATH[target], headers: ['Content-Type', 'application/json'], body: '{"email":' });
  const bytes = head.toString('latin1').replace(/Content-Length: \d+/, 'Content-Length: 1000');
  const opened = await openMany(field, target, { count: scaled(field, 1200), bytes });
  const probe = target === 'rest-bridge' ? '/v1/products?limit=1' : '/graphql?query={__typename}';
  const headers = ['Apollo-Require-Preflight', 'true'];
  const replies = await inParallel(10, 2, () =>
    ask(field.connections, field.addresses[target], { path: probe, headers, patienceMs: 10_000 }).catch(() => ({ status: 0 })),
  );
  await pause(field.scale * HELD_MS);
  return `${opened.length} half bodies, ${countOpen(opened)} open after it; same address asks: ${countStatuses(replies)}`;
}

/** Slowloris: a header line every now and then. */
async function halfHeaders(field: Field, target: ServiceName): Promise<string> {
  const opened = await openMany(field, target, { count: scaled(field, 1000), bytes: 'GET / HTTP/1.1\r\nHost: localhost\r\n' });
  for (let n = 0; n < field.scale * HELD_MS; n += 1000) {
    for (const { socket } of opened) if (socket.writable) socket.write(`X-${n}: 1\r\n`);
    await pause(1000);
  }
  return `${opened.length} connections, ${countOpen(opened)} open after ${(field.scale * HELD_MS) / 1000} s`;
}

/** A byte now and then keeps the body coming without an end. */
async function trickle(field: Field, target: ServiceName): Promise<string> {
  const bytes = `POST ${POST_PATH[target]} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const opened = await openMany(field, target, { count: scaled(field, 500), bytes });
  for (let n = 0; n < field.scale * HELD_MS; n += 500) {
    for (const { socket } of opened) if (socket.writable) socket.write('1\r\n \r\n');
    await pause(500);
  }
  return `${opened.length} bodies of a byte a time, ${countOpen(opened)} open after ${(field.scale * HELD_MS) / 1000} s`;
}

async function unreadAnswers(field: Field): Promise<string> {
  const fields = Array.from({ length: 28 }, (_, i) => `b${i}:body `).join('');
  const body = JSON.stringify({ query: `{postsConnection(first:100){edges{node{${fields}}}}}` });
  const bytes = toRequest({ path: '/graphql', headers: ['Content-Type', 'application/json'], body })
    .toString()
    .replace('Connection: close\r\n', '');
  // Each connection asks again and again without reading an answer.
  const opened = await openMany(field, 'gateway', { count: scaled(field, 20), bytes: bytes.repeat(20), isUnread: true });
  await pause(field.scale * HELD_MS);
  return `${opened.length} connections × 20 answers unread, ${countOpen(opened)} open after ${(field.scale * HELD_MS) / 1000} s`;
}

async function unreadLists(field: Field): Promise<string> {
  const bytes = 'GET /v1/posts?limit=100&include=author HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(500);
  const opened = await openMany(field, 'rest-bridge', { count: scaled(field, 30), bytes, isUnread: true });
  await pause(field.scale * HELD_MS);
  return `${opened.length} connections × 500 pipelined requests unread, ${countOpen(opened)} open`;
}

/** Pipelined requests: each is answered before the next is begun (RFC 9112 §9.3.2). */
async function pipeline(field: Field, target: ServiceName): Promise<string> {
  const path = target === 'rest-bridge' ? '/v1/products?limit=1' : '/graphql?query={__typename}';
  const one = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nApollo-Require-Preflight: 1\r\n\r\n`;
  const opened = await openMany(field, target, { count: 4, bytes: one.repeat(scaled(field, 3000)) });
  const isOver = await Promise.all(opened.map((each) => each.until((bytes) => bytes.length > 0, 10_000)));
  return `${opened.length} × ${scaled(field, 3000)} pipelined requests, ${isOver.filter(Boolean).length} answered`;
}

/** Reserved event streams that are never opened. */
async function reserve(field: Field): Promise<string> {
  const replies = await inParallel(scaled(field, 3000), 16, () =>
    ask(field.connections, field.addresses.gateway, { method: 'PUT', path: '/graphql', headers: ['Accept', 'text/event-stream'] }),
  );
  return countStatuses(replies);
}

/** Event streams that are never read. */
async function unreadStreams(field: Field): Promise<string> {
  const { addresses } = field;
  const bytes = `GET /graphql?query=${encodeURIComponent('subscription{userCreated{id name}}')} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n`;
  const opened = await openMany(field, 'gateway', { count: scaled(field, 1000), bytes, isUnread: true });
  const reply = await ask(field.connections, addresses.gateway, {
    path: '/graphql?query={__typename}',
    headers: ['Apollo-Require-Preflight', '1'],
  }).catch(() => ({ status: 0 }));
  await pause(field.scale * 3000);
  return `${opened.length} streams, ${countOpen(opened)} open; same address asks: ${reply.status}`;
}

async function stallHandshakes(field: Field, target: ServiceName): Promise<string> {
  const { host, port } = field.addresses[target];
  const plain = { ...field, addresses: { ...field.addresses, [target]: { host, port } } };
  const hello = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]);
  const opened = await openMany(plain, target, { count: scaled(field, 800), bytes: hello });
  const silent = await openMany(plain, target, { count: scaled(field, 400), bytes: '' });
  const garbage = await inParallel(scaled(field, 200), 20, async () => {
    const connection = await field.connections.open({ host, port });
    connection.socket.write(Buffer.concat([Buffer.from([0x16, 3, 1]), field.random.bytes(2000)]));
    return connection.until(() => false, 500);
  });
  await pause(HELD_MS);
  const open = countOpen([...opened, ...silent]);
  demand(open < opened.length + silent.length || open === 0, `all ${open} stalled handshakes are open after ${HELD_MS / 1000} s`);
  return `${opened.length} stalled handshakes, ${silent.length} silent, ${garbage.length} of garbage; ${open} open after ${HELD_MS / 1000} s`;
}

const at = (
  name: string,
  run: (field: Field, target: ServiceName) => Promise<string>,
  clause: string,
  targets: readonly ServiceName[] = ALL,
): Attack[] =>
  targets.map((target) => ({
    name: `${name} at ${target}`,
    target,
    family: 'slow clients',
    clause,
    isLoad: true,
    run: (field) => run(field, target),
  }));

export const SLOW_CLIENT_ATTACKS: readonly Attack[] = [
  ...at('1,200 bodies half sent', halfBodies, 'MAX_IN_FLIGHT counts whole requests; connections per address are bounded'),
  ...at('1,000 headers that never end', halfHeaders, 'HEADERS_TIMEOUT_MS 10 s (RFC 9110 §15.5.9)'),
  ...at('500 bodies of a byte a time', trickle, 'A body has a minimum rate', ['rest-bridge', 'gateway']),
  ...at('requests without end on one connection', pipeline, 'RFC 9112 §9.3.2: answers in order; a pipeline waits unread', [
    'rest-bridge',
    'gateway',
    'orders',
  ]),
  {
    name: 'responses of megabytes that are not read',
    target: 'gateway',
    family: 'slow clients',
    clause: 'Connections without write progress are cut; what waits is bounded for the process',
    isLoad: true,
    run: unreadAnswers,
  },
  {
    name: 'lists that are not read',
    target: 'rest-bridge',
    family: 'slow clients',
    clause: 'Connections without write progress are cut; what waits is bounded for the process',
    isLoad: true,
    run: unreadLists,
  },
  {
    name: 'event streams reserved and not opened',
    target: 'gateway',
    family: 'slow clients',
    clause: 'Reservations are bounded in number and in time',
    isLoad: true,
    run: reserve,
  },
  {
    name: 'event streams that are not read',
    target: 'gateway',
    family: 'slow clients',
    clause: 'SLOW_CONSUMER_BYTES; MAX_SOCKETS',
    isLoad: true,
    run: unreadStreams,
  },
  ...(['rest-bridge', 'gateway'] as const).map((target): Attack => ({
    name: `TLS handshakes that stall at ${target}`,
    target,
    family: 'slow clients',
    clause: 'A handshake has a time limit',
    needs: 'tls',
    isLoad: true,
    run: (field) => stallHandshakes(field, target),
  })),
];
