/** Messages, frames and bodies that no honest client sends: each may end its own connection, and nothing else. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { request } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { createHarbours } from '../../stack/federation/harbours.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';

const harbours = createHarbours();
let federation: Federation;
/** Opened before the attacks: it is closed when the process ends. */
let witness: SocketClient;
beforeAll(async () => {
  federation = await startFederation(harbours.sources, { env: { FORWARD_HEADERS: 'x-tenant' } });
  witness = await openSocket(federation.url);
});
afterAll(async () => {
  await witness.close();
  await federation.stop();
});

const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const DEEP = [objects(6000), `{"a":${lists(100_000)}}`];
const QUERY = '{ __typename }';

/** The gateway answers, on a connection of before and on a new one. */
const expectAlive = async () => {
  witness.send({ id: 'w', type: 'subscribe', payload: { query: QUERY } });
  expect(await witness.next()).toMatchObject({ id: 'w', type: 'next', payload: { data: { __typename: 'Query' } } });
  await witness.next(({ type }) => type === 'complete');
  expect((await federation.ask(QUERY)).body).toEqual({ data: { __typename: 'Query' } });
};

// RFC 8259 §9 lets a parser limit the depth; graphql-transport-ws: "Receiving a message of a type or format which is not specified … 4400".
describe('a WebSocket message that is nested 6,000 objects or 100,000 lists deep', () => {
  it.each(DEEP.flatMap((deep) => ['connection_init', 'ping', 'pong'].map((type) => [type, deep] as const)))(
    'closes its socket with 4400 as the payload of %s before connection_init',
    async (type, deep) => {
      const client = await openSocket(federation.url, { init: null });
      client.send(`{"type":"${type}","payload":${deep}}`);
      expect((await client.closed).code).toBe(4400);
      await expectAlive();
    },
  );

  it.each(['ping', 'pong', 'complete'])('closes its socket with 4400 as the payload of %s after it', async (type) => {
    for (const deep of DEEP) {
      const client = await openSocket(federation.url);
      client.send(`{"id":"1","type":"${type}","payload":${deep}}`);
      expect((await client.closed).code).toBe(4400);
    }
    await expectAlive();
  });

  it.each(['variables', 'extensions', 'operationName', 'query'])('closes its socket with 4400 as %s of an operation', async (name) => {
    for (const deep of DEEP) {
      const client = await openSocket(federation.url);
      client.send(`{"id":"1","type":"subscribe","payload":{"query":"${QUERY}","${name}":${deep}}}`);
      expect((await client.closed).code).toBe(4400);
    }
    await expectAlive();
  });
});

describe('an invalid WebSocket message', () => {
  it.each([
    ['not JSON', '{'],
    ['no object', '[1]'],
    ['null', 'null'],
    ['of no type', '{}'],
    ['of a type that every object inherits', '{"type":"__proto__"}'],
    ['of a type of 200,000 characters', `{"type":"${'漢'.repeat(200_000)}"}`],
    ['of a server', '{"type":"connection_ack"}'],
    ['a result', '{"id":"1","type":"next","payload":{}}'],
    ['an operation whose id is a number', '{"id":1,"type":"subscribe","payload":{"query":"{a}"}}'],
    ['an operation without a payload', '{"id":"1","type":"subscribe"}'],
    ['an operation with an id of a megabyte', `{"id":"${'x'.repeat(1_000_000)}","type":"subscribe","payload":{"query":"{a}"}}`],
  ])('closes its socket with 4400: %s', async (_, message) => {
    const client = await openSocket(federation.url);
    client.send(message);
    expect((await client.closed).code).toBe(4400);
    await expectAlive();
  });

  it('closes its socket with 4400 when it is binary', async () => {
    const client = await openSocket(federation.url);
    client.socket.send(Buffer.from('{"type":"ping"}'));
    expect((await client.closed).code).toBe(4400);
  });

  // RFC 6455 §5.5: a control frame has at most 125 bytes, so that a reason has at most 123.
  it('closes its socket with 4409 and a reason that fits for a second operation with an id of 99 characters of three bytes', async () => {
    for (const id of ['漢'.repeat(99), '\ud800'.repeat(200), '🚢'.repeat(100), 'x'.repeat(200)]) {
      const client = await openSocket(federation.url);
      const payload = { query: 'subscription { arrived { id } }' };
      for (let n = 0; n < 2; n++) client.send({ id, type: 'subscribe', payload });
      const { code, reason } = await client.closed;
      expect(code).toBe(4409);
      expect(reason).toMatch(/^Subscriber for /);
    }
    await expectAlive();
  });
});

describe('a connection_init', () => {
  // spec §5.7: a credential that is not valid is refused, and never passes for anonymous.
  it.each([1, true, {}, [], ['Bearer a']])('closes the socket with 4403 when its credential is %j', async (authorization) => {
    for (const name of ['authorization', 'Authorization', 'X-API-Key']) {
      const client = await openSocket(federation.url, { init: null });
      client.send({ type: 'connection_init', payload: { [name]: authorization } });
      expect(await client.closed).toMatchObject({ code: 4403 });
    }
  });

  it('closes the socket with 4400 when it has the same credential under two names', async () => {
    const client = await openSocket(federation.url, { init: null });
    client.send({ type: 'connection_init', payload: { authorization: 'a', Authorization: 'a' } });
    expect(await client.closed).toEqual({ code: 4400, reason: 'Send exactly one credential.' });
  });

  // RFC 9110 §5.5: line ends and NUL in a field value are invalid and dangerous.
  it.each(['a\r\nx-other: b', 'a\u0000', '漢'])('closes the socket with 4400 when a header that goes to subgraphs is %j', async (value) => {
    for (const name of ['authorization', 'x-tenant']) {
      const client = await openSocket(federation.url, { init: null });
      client.send({ type: 'connection_init', payload: { [name]: value } });
      expect((await client.closed).code).toBe(4400);
    }
    await expectAlive();
  });

  it('is anonymous when its credential is null', async () => {
    const client = await openSocket(federation.url, { init: { authorization: null } });
    await client.close();
  });
});

describe('an HTTP request', () => {
  const post = (body: string, headers: Record<string, string> = {}) =>
    request(federation.url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

  it.each(['application/json', 'text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'])(
    'is answered 400 when it is nested too deep, for a client that accepts %s',
    async (accept) => {
      for (const deep of DEEP)
        for (const body of [
          deep,
          `[${deep}]`,
          ...['variables', 'extensions', 'query'].map((name) => `{"query":"${QUERY}","${name}":${deep}}`),
        ])
          expect(await post(body, { accept })).toMatchObject({ status: 400 });
      await expectAlive();
    },
  );

  it('is answered 400 when it is a GET whose variables or extensions are nested too deep', async () => {
    for (const name of ['variables', 'extensions']) {
      const search = new URLSearchParams({ query: QUERY, [name]: lists(1000) });
      const refused = await request(`${federation.url}?${search.toString()}`, { method: 'GET' });
      expect(refused).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'VALIDATION_ERROR' } }] } });
      expect(refused.text).toContain(`\`${name}\` is nested deeper than the limit of 256 levels`);
    }
  });

  it('is answered 400 when it is for a shared event stream and nested too deep', async () => {
    const { text: token } = await request(federation.url, { method: 'PUT' });
    for (const deep of DEEP)
      expect((await post(`{"query":"${QUERY}","extensions":${deep}}`, { 'x-graphql-event-stream-token': token })).status).toBe(400);
    await expectAlive();
  });
});

it('closes a connection that was rejected as a WebSocket although the client keeps its side open', async () => {
  const { hostname, port } = new URL(federation.url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.write(`GET /nowhere HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await new Promise((resolve) => socket.once('end', resolve));
  expect(text).toMatch(/^HTTP\/1\.1 404 /);
  // A connection that is gone refuses what is written to it.
  await new Promise((resolve) => {
    socket.once('error', resolve);
    const again = () => {
      if (!socket.destroyed && socket.write('x')) setImmediate(again);
    };
    again();
  });
  socket.destroy();
});

// contract §6: a URL has at most 8 KiB, for the request that opens a WebSocket too.
it('answers 414 to a WebSocket whose URL exceeds 8 KiB', async () => {
  const socket = new WebSocket(`${federation.url.replace('http', 'ws')}?a=${'x'.repeat(8192)}`, 'graphql-transport-ws');
  const error = await new Promise<Error>((resolve) => socket.once('error', resolve));
  expect(error.message).toContain('414');
});
