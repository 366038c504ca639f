/** Random WebSocket frames (RFC 6455) and random orders of the messages of graphql-transport-ws. */
import { type Attack, type Field, demand, scaled } from '../attack.ts';
import type { ServiceName } from '../target/system.ts';
import { pause } from '../wire/connections.ts';
import { countStatuses, inParallel } from '../wire/http.ts';
import type { Random } from '../wire/random.ts';
import { type FrameShape, Opcode, openGraphqlSocket, openRawSocket, toFrame } from '../wire/web-socket.ts';

const TYPES = [
  'connection_init',
  'connection_ack',
  'ping',
  'pong',
  'subscribe',
  'next',
  'error',
  'complete',
  'start',
  'stop',
  '__proto__',
  '',
  1,
  null,
];
const IDS = ['1', '2', '', '__proto__', 'constructor', 'x'.repeat(201), 'x'.repeat(200), '漢'.repeat(66), '\u0000', 1, null, {}, []];
const QUERIES = [
  '{__typename}',
  'subscription{userCreated{id}}',
  'subscription{userCreated{id name email}}',
  'subscription($id:ID!){messageAdded(channelId:$id){id}}',
  'mutation{login(email:"a",password:"b"){token}}',
  '{',
  '',
  'subscription{a:__typename}',
  'subscription{__typename}',
  '{__schema{types{name}}}',
  1,
  null,
];
const PAYLOADS: readonly unknown[] = [
  undefined,
  null,
  {},
  [],
  'a',
  1,
  { authorization: 'Bearer a.b.c' },
  { authorization: 1 },
  { Authorization: 'x', authorization: 'y' },
  { 'x-api-key': 'k' },
  { toString: 1, constructor: null },
];
const SECONDS = 1000;

function makeMessage(random: Random): string {
  const type = random.pick(TYPES);
  const payload = random.chance(0.6)
    ? {
        query: random.pick(QUERIES),
        variables: random.pick([undefined, null, {}, [], { id: 'chn_1' }]),
        extensions: random.pick([undefined, null, {}, { resume: {} }, { resume: { after: 'x' } }]),
        operationName: random.pick([undefined, null, '', 'A', 1]),
      }
    : random.pick(PAYLOADS);
  const text = JSON.stringify({ ...(random.chance(0.8) && { id: random.pick(IDS) }), type, payload });
  return random.chance(0.05) ? text.slice(0, random.upTo(text.length)) : text;
}

/** Messages in any order; at most the socket is closed for it. */
async function fuzzMessages(field: Field, target: ServiceName): Promise<string> {
  const { random, connections, addresses } = field;
  const sessions = Array.from({ length: scaled(field, 600) }, () => ({
    isInitialised: random.chance(0.7),
    messages: Array.from({ length: 1 + random.upTo(15) }, () => makeMessage(random)),
  }));
  const codes = await inParallel(sessions.length, 16, async (n) => {
    const { isInitialised, messages } = sessions[n] as (typeof sessions)[number];
    const socket = await (isInitialised ? openGraphqlSocket : openRawSocket)(connections, addresses[target]);
    for (const message of messages) socket.send(message);
    await socket.connection.until(() => socket.closeCode() !== undefined, 100);
    const status = socket.closeCode() ?? 0;
    socket.connection.socket.destroy();
    return { status };
  });
  // RFC 6455 §7.4: 1011 says that the server met what it did not expect.
  demand(!codes.some(({ status }) => status === 1011), `closed with 1011: ${countStatuses(codes)}`);
  return `${sessions.length} sessions closed with (0: open) ${countStatuses(codes)}`;
}

function makeFrame(random: Random): Buffer {
  const shape: FrameShape = {
    opcode: random.chance(0.6)
      ? random.pick([Opcode.continuation, Opcode.text, Opcode.binary, Opcode.close, Opcode.ping, Opcode.pong])
      : random.upTo(15),
    payload: random.pick([
      Buffer.alloc(0),
      Buffer.from('{"type":"ping"}'),
      random.bytes(random.upTo(300)),
      Buffer.from([0xff, 0xfe]),
      Buffer.from([0xed, 0xa0, 0x80]),
      Buffer.from([3, 232]),
      Buffer.from([0, 1]),
      Buffer.from([0x0f, 0xff, 0xc3]),
    ]),
    isFinal: random.chance(0.8),
    reserved: random.chance(0.85) ? 0 : random.upTo(7),
    isMasked: random.chance(0.95),
    ...(random.chance(0.08) && { statedLength: random.pick([0, 125, 126, 65_535, 65_536, 2 ** 31, 2 ** 40, Number.MAX_SAFE_INTEGER]) }),
  };
  return toFrame(shape);
}

async function fuzzFrames(field: Field, target: ServiceName): Promise<string> {
  const { random, connections, addresses } = field;
  const path = target === 'users' && random.chance(0.5) ? '/revocations' : '/graphql';
  const protocol = path === '/graphql' ? 'graphql-transport-ws' : '';
  const sessions = Array.from({ length: scaled(field, 1500) }, () =>
    Buffer.concat(Array.from({ length: 1 + random.upTo(8) }, () => makeFrame(random))),
  );
  const closed = await inParallel(sessions.length, 24, async (n) => {
    const extension = n % 3 === 0 ? ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'] : [];
    const socket = await openRawSocket(connections, addresses[target], { path, protocol, headers: extension });
    socket.connection.socket.write(sessions[n] as Buffer);
    await socket.connection.until(() => socket.closeCode() !== undefined, 150);
    const status = socket.closeCode() ?? 0;
    socket.connection.socket.destroy();
    return { status };
  });
  return `${sessions.length} sessions closed with (0: open) ${countStatuses(closed)}`;
}

/** Requests to switch that are wrong in one way each. */
async function fuzzHandshakes(field: Field, target: ServiceName): Promise<string> {
  const { connections, addresses, random } = field;
  const good = [
    'GET /graphql HTTP/1.1',
    'Host: localhost',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Protocol: graphql-transport-ws',
  ];
  const wrong = [
    'Sec-WebSocket-Protocol: graphql-ws',
    'Sec-WebSocket-Protocol: ' + 'a,'.repeat(3000) + 'b',
    'Sec-WebSocket-Version: 8',
    'Sec-WebSocket-Key: x',
    'Upgrade: h2c',
    'Sec-WebSocket-Extensions: ' + 'permessage-deflate; a="b",'.repeat(300) + 'c',
    'Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=99',
    'Authorization: Bearer a.b.c',
    'Authorization: Basic a',
    'Origin: http://evil.example',
    'Content-Length: 5',
    'Transfer-Encoding: chunked',
    'Host: a',
    'POST /graphql HTTP/1.1',
    'GET /%ff HTTP/1.1',
    'GET //evil.example/graphql HTTP/1.1',
    'GET * HTTP/1.1',
    'GET http://[ HTTP/1.1',
  ];
  const replies = await inParallel(scaled(field, 600), 16, async () => {
    const lines = good.filter(() => random.chance(0.9));
    for (let n = random.upTo(2); n >= 0; n--) {
      const line = random.pick(wrong);
      if (/HTTP\/1.1$/.test(line)) lines[0] = line;
      else lines.push(line);
    }
    const connection = await connections.open(addresses[target]);
    connection.socket.write(`${lines.join('\r\n')}\r\n\r\n${random.chance(0.3) ? random.bytes(30).toString('latin1') : ''}`);
    await connection.until((bytes) => bytes.includes('\r\n\r\n'), 2 * SECONDS);
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(connection.received().toString('latin1'))?.[1] ?? 0);
    connection.socket.destroy();
    demand(status < 500 || status === 501 || status === 503, `${lines.join(' | ').slice(0, 300)}: status ${status}`);
    return { status };
  });
  return countStatuses(replies);
}

/** A message in many small fragments, and a hundred thousand empty ones. */
async function fragments(field: Field, target: ServiceName): Promise<string> {
  const { connections, addresses } = field;
  const codes: { status: number }[] = [];
  const shapes: (() => Buffer)[] = [
    () =>
      Buffer.concat([
        toFrame({ opcode: Opcode.text, payload: '{', isFinal: false }),
        ...Array.from({ length: 100_000 }, () => toFrame({ opcode: Opcode.continuation, payload: '', isFinal: false })),
      ]),
    () =>
      Buffer.concat([
        toFrame({ opcode: Opcode.text, payload: '{', isFinal: false }),
        ...Array.from({ length: 50_000 }, () => toFrame({ opcode: Opcode.continuation, payload: ' ', isFinal: false })),
      ]),
    () => Buffer.concat(Array.from({ length: 50_000 }, () => toFrame({ opcode: Opcode.ping, payload: 'x'.repeat(125) }))),
    () => Buffer.concat(Array.from({ length: 50_000 }, () => toFrame({ opcode: Opcode.pong, payload: '' }))),
    () => toFrame({ opcode: Opcode.text, payload: 'x'.repeat(2_000_000) }),
  ];
  for (const shape of shapes.slice(0, field.scale < 1 ? 2 : shapes.length)) {
    for (let n = 0; n < scaled(field, 5); n++) {
      const socket = await openGraphqlSocket(connections, addresses[target], { isUnread: true });
      socket.connection.socket.write(shape());
      await pause(200);
      codes.push({ status: socket.connection.isClosed() ? 1 : 0 });
    }
  }
  await pause(field.scale * 3 * SECONDS);
  return `${codes.length} sockets; ${codes.filter(({ status }) => status === 1).length} closed at once`;
}

const SPEAKERS = ['gateway', 'users', 'content'] as const;
const at = (
  name: string,
  run: (field: Field, target: ServiceName) => Promise<string>,
  { clause, ...rest }: Partial<Attack> & Pick<Attack, 'clause'>,
): Attack[] =>
  SPEAKERS.map((target) => ({
    name: `${name} at ${target}`,
    target,
    family: 'WebSocket',
    clause,
    ...rest,
    ...(target === 'gateway' && rest.isLoad !== true && { isShort: true }),
    run: (field) => run(field, target),
  }));

export const SOCKET_ATTACKS: readonly Attack[] = [
  ...at('messages in any order', fuzzMessages, { clause: 'graphql-transport-ws: 4400, 4401, 4403, 4409, 4429; never 1011' }),
  ...at('random frames', fuzzFrames, { clause: 'RFC 6455 §5, §7.4.1: 1002, 1007, 1009' }),
  ...at('wrong handshakes', fuzzHandshakes, { clause: 'RFC 6455 §4.2: 400, 426; never a 5xx' }),
  ...at('fragments and control frames without end', fragments, {
    clause: 'MAX_MESSAGE_BYTES; fragments are bounded in number',
    isLoad: true,
  }),
];
