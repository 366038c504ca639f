/** Attacks by well-framed messages of graphql-transport-ws, on the gateway and on the subgraphs' own ports. */
import { type Attack, type Field, demand, requireOwn, scaled } from '../attack.ts';
import { findAccount } from '../target/system.ts';
import { pause } from '../wire/connections.ts';
import { inParallel } from '../wire/http.ts';
import { openGraphqlSocket, openRawSocket } from '../wire/web-socket.ts';

const PROTOCOL = 'graphql-transport-ws: any message that is not expected closes the socket, nothing else';
const CLOSED_MS = 500;
/** A subscription that the process has itself. */
const SUBSCRIPTIONS = {
  gateway: 'subscription{userCreated{id}}',
  users: 'subscription{userCreated{id}}',
  orders: 'subscription{orderStatusChanged{id}}',
  content: 'subscription{messageAdded(channelId:"chn_1"){id}}',
} as const;
type Speaker = keyof typeof SUBSCRIPTIONS;
const SPEAKERS = Object.keys(SUBSCRIPTIONS) as Speaker[];

const nest = (depth: number) => ({
  object: `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  list: `${'['.repeat(depth)}${']'.repeat(depth)}`,
});

/** Payloads nested so deep that writing or visiting them recursively overflows the stack. */
async function nestMessages({ connections, addresses }: Field, target: Speaker): Promise<string> {
  const codes: (number | string)[] = [];
  for (const depth of [100, 6000, 100_000]) {
    for (const payload of Object.values(nest(depth))) {
      for (const isInitialised of [false, true]) {
        for (const type of ['ping', 'pong', 'connection_init', 'subscribe', 'next', 'error']) {
          const open = isInitialised ? openGraphqlSocket : openRawSocket;
          const socket = await open(connections, addresses[target]);
          const operation = `{"query":"subscription{userCreated{id}}","variables":${payload},"extensions":${payload}}`;
          socket.send(`{"id":"1","type":"${type}","payload":${type === 'subscribe' ? operation : payload}}`);
          await socket.message(() => true, 50);
          codes.push(socket.closeCode() ?? 'open');
          socket.connection.socket.destroy();
        }
      }
    }
  }
  return `${codes.length} messages: ${[...new Set(codes)].join(', ')}`;
}

/** RFC 6455 §5.5: a close frame carries at most 125 bytes, two of them the code. */
async function repeatId({ connections, addresses }: Field, target: Speaker): Promise<string> {
  const ids = [
    '漢'.repeat(99),
    '漢'.repeat(200),
    '\ud800'.repeat(99),
    '𝒳'.repeat(100),
    '__proto__',
    'constructor',
    'é'.repeat(61),
    '"\\\n'.repeat(60),
    '',
  ];
  const codes: (number | string)[] = [];
  for (const id of ids) {
    const socket = await openGraphqlSocket(connections, addresses[target]);
    const subscribe = { id, type: 'subscribe', payload: { query: SUBSCRIPTIONS[target] } };
    socket.send(subscribe);
    socket.send(subscribe);
    await socket.connection.until(() => socket.closeCode() !== undefined, CLOSED_MS);
    codes.push(socket.closeCode() ?? 'open');
    socket.connection.socket.destroy();
  }
  return codes.join(', ');
}

/** Pongs repeat the payload of a ping: a client that does not read leaves them with the server. */
async function pingUnread(field: Field, target: Speaker): Promise<string> {
  const { connections, addresses } = field;
  const message = { type: 'ping', payload: { text: 'x'.repeat(1_000_000) } };
  const sockets = await inParallel(scaled(field, 20), 20, () => openGraphqlSocket(connections, addresses[target], { isUnread: true }));
  for (let round = 0; round < 40; round++) {
    for (const socket of sockets) if (!socket.connection.isClosed() && socket.connection.socket.writableLength < 4e6) socket.send(message);
    await pause(50);
  }
  // It holds what it was sent for as long as it may.
  await pause(field.scale * 12_000);
  return `${sockets.length} sockets, 40 MB of pings each`;
}

/** Starts and ends subscriptions as fast as the socket takes them. */
async function churn(field: Field): Promise<string> {
  const { connections, addresses } = field;
  const sockets = await inParallel(4, 4, () => openGraphqlSocket(connections, addresses.gateway));
  const count = scaled(field, 5000);
  for (let i = 0; i < count; i++) {
    const socket = sockets[i % sockets.length];
    if (!socket || socket.connection.isClosed()) break;
    // Each document differs, so that none shares its source stream with another.
    socket.send({
      id: String(i),
      type: 'subscribe',
      payload: { query: `subscription S${i % 500}{userCreated{id name a${i % 500}:name}}` },
    });
    socket.send({ id: String(i), type: 'complete' });
    if (i % 100 === 99) await pause(10);
  }
  return `${count} subscriptions begun and ended on ${sockets.length} sockets`;
}

/** A socket takes a hundred operations at a time, and a client opens as many sockets as it likes. */
async function queryInParallel(field: Field): Promise<string> {
  const { connections, addresses } = field;
  const sockets = await inParallel(20, 20, () => openGraphqlSocket(connections, addresses.gateway));
  const query = '{postsConnection(first:50){edges{node{id body author{name} comments(limit:10){edges{node{body author{name}}}}}}}}';
  const count = scaled(field, 100);
  for (const socket of sockets) for (let i = 0; i < count; i++) socket.send({ id: String(i), type: 'subscribe', payload: { query } });
  const answered = await Promise.all(sockets.map((socket) => socket.message(({ type }) => type === 'next' || type === 'error', 20_000)));
  return `${sockets.length} × ${count} queries at once, ${answered.filter((each) => each !== undefined).length} sockets answered`;
}

/** Positions that no server ever gave. */
async function forgePositions({ connections, addresses, own }: Field): Promise<string> {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const wild = ['', '7', '-1', '1e400', '999999999999999999999', "1'; DROP TABLE users; --", '\u0000', '9'.repeat(3000), '0'.repeat(14)];
  const positions = [
    ...wild,
    ...wild.flatMap((each) => [encode(['users', each]), encode(['content', each]), encode([each, each]), encode({ a: each })]),
  ];
  const resumes = [null, 1, [], {}, { after: 1 }, { after: null }, { first: -1 }, { first: 1e9 }, ...positions.map((after) => ({ after }))];
  const token = own?.issueToken(findAccount(own, 'admin'));
  const answers = new Map<string, number>();
  for (const target of SPEAKERS) {
    const init = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const socket = await openGraphqlSocket(connections, addresses[target], { init });
    for (const [index, resume] of resumes.entries()) {
      const id = String(index);
      socket.send({ id, type: 'subscribe', payload: { query: SUBSCRIPTIONS[target], extensions: { resume } } });
      const reply = await socket.message((message) => message.id === id, 2000);
      answers.set(reply?.type ?? 'none', (answers.get(reply?.type ?? 'none') ?? 0) + 1);
      socket.send({ id, type: 'complete' });
      demand(!JSON.stringify(reply ?? null).includes('INTERNAL_ERROR'), `${target}: INTERNAL_ERROR for position ${JSON.stringify(resume)}`);
    }
  }
  return [...answers].map(([type, count]) => `${type} × ${count}`).join(', ');
}

/** Each revocation is sent to every watcher, and a logout waits for their answers. */
async function floodRevocations(field: Field): Promise<string> {
  const { connections, addresses, random } = field;
  let refused = 0;
  const open = () => openRawSocket(connections, addresses.users, { path: '/revocations', protocol: '' }).catch(() => refused++);
  const sockets = (await inParallel(scaled(field, 1500), 50, open)).filter((each) => typeof each !== 'number');
  for (const socket of sockets) {
    for (const text of ['NaN', '1e999', '-1', '{}', random.bytes(40).toString('latin1')]) socket.send(text);
    if (random.chance(0.1)) socket.frame({ opcode: 1, payload: 'x'.repeat(5000) });
    socket.connection.socket.pause();
  }
  await pause(1000);
  return `${sockets.length} watchers, ${refused} refused`;
}

/** Someone who never acknowledges must not hold up others' logouts for long. */
async function delayLogouts({ connections, addresses, own, ...field }: Field): Promise<string> {
  const bob = findAccount(requireOwn({ connections, addresses, own, ...field }), 'bob');
  await inParallel(50, 10, () =>
    openRawSocket(connections, addresses.users, { path: '/revocations', protocol: '', isUnread: true }).catch(() => undefined),
  );
  const { host, port } = addresses['rest-bridge'];
  const call = (path: string, init: RequestInit) => fetch(`http://${host}:${port}${path}`, { method: 'POST', ...init });
  const logIn = () =>
    call('/v1/auth/login', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: bob.email, password: bob.password }),
    });
  let login = await logIn();
  // Earlier attacks have failed to log in from this address: for at most a minute at a time it must wait.
  if (login.status === 429) {
    await pause(Number(login.headers.get('retry-after')) * 1000);
    login = await logIn();
  }
  const { accessToken } = (await login.json()) as { accessToken: string };
  const startedAt = Date.now();
  const { status } = await call('/v1/auth/logout', { headers: { authorization: `Bearer ${accessToken}` } });
  const ms = Date.now() - startedAt;
  demand(ms < 10_000, `a logout took ${ms} ms`);
  return `a logout beside 50 silent watchers: ${status} after ${ms} ms`;
}

export const MESSAGE_ATTACKS: readonly Attack[] = [
  ...SPEAKERS.map((target): Attack => ({
    name: `deeply nested message payloads at ${target}`,
    target,
    family: 'messages',
    clause: 'A nesting limit applies to every JSON that comes from outside; one message ends no process',
    ...(target === 'gateway' && { isShort: true }),
    run: (field) => nestMessages(field, target),
  })),
  ...SPEAKERS.map((target): Attack => ({
    name: `two subscribes with one long id at ${target}`,
    target,
    family: 'messages',
    clause: 'RFC 6455 §5.5: control frames carry at most 125 bytes; graphql-transport-ws: 4409 for a repeated id',
    ...(target === 'gateway' && { isShort: true }),
    run: (field) => repeatId(field, target),
  })),
  ...SPEAKERS.map((target): Attack => ({
    name: `unread pongs of 1 MB at ${target}`,
    target,
    family: 'messages',
    clause: 'SLOW_CONSUMER_BYTES: 1 MiB waits for a client that does not read',
    isLoad: true,
    run: (field) => pingUnread(field, target),
  })),
  {
    name: 'subscriptions begun and ended at once',
    target: 'gateway',
    family: 'messages',
    clause: PROTOCOL,
    isLoad: true,
    isShort: true,
    run: churn,
  },
  {
    name: 'queries in parallel over WebSockets',
    target: 'gateway',
    family: 'messages',
    clause: 'MAX_OPERATIONS_PER_SOCKET 100; what runs and what waits is bounded',
    isLoad: true,
    run: queryInParallel,
  },
  {
    name: 'forged resume positions',
    target: 'gateway',
    family: 'messages',
    clause: 'A position that was not given is VALIDATION_ERROR or GONE (ADR 11)',
    run: forgePositions,
  },
  {
    name: 'a flood of revocation watchers',
    target: 'users',
    family: 'messages',
    clause: 'Sockets at /revocations are bounded in number and in bytes',
    run: floodRevocations,
  },
  {
    name: 'revocation watchers that never acknowledge',
    target: 'users',
    family: 'messages',
    clause: 'A logout waits for watchers at most 1 s (ADR 10)',
    needs: 'own',
    run: delayLogouts,
  },
];
