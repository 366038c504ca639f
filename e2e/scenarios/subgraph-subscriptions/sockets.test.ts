/** The sockets of a subgraph: who gets in, for how long, what they carry besides, and that nothing of them is left behind (issue 5). */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { readMetric, request, sumMetric, until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { type SubscribeOptions, subscribeTo } from '../../stack/clients/subscriber.ts';
import { COLLECT_GARBAGE } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

const REQUEST_ID = '01234567-89ab-4cde-8f01-23456789abcd';
const QUERY = 'subscription { userCreated { id } }';
const users = () => stack.subgraphs.users.url;
const connect = (path = '/graphql') => new WebSocket(`${users().replace(/^http/, 'ws')}${path}`, 'graphql-transport-ws');
const ending = (options: Omit<SubscribeOptions, 'query'>) => subscribeTo(users(), { query: QUERY, ...options }).end();

describe('a socket', () => {
  it('is closed for a token that is not valid, and for more than one credential', async () => {
    const foreign = createTokenIssuer({ privateKeyPem: generateTokenKeys().privateKeyPem }).issue(
      createTestGrant({ id: ada.id, role: 'ADMIN' }),
    ).token;
    const authorization = `Bearer ${ada.token}`;
    expect(await ending({ token: 'nonsense' })).toEqual({ close: 4401 });
    expect(await ending({ token: foreign })).toEqual({ close: 4401 });
    expect(await ending({ headers: { authorization: 'Bearer nonsense' } })).toEqual({ close: 4401 });
    expect(await ending({ connectionParams: { authorization: 'Basic YTpi' } })).toEqual({ close: 4401 });
    expect(await ending({ connectionParams: { authorization, Authorization: authorization } })).toEqual({ close: 4400 });
    expect(await ending({ connectionParams: { authorization }, headers: { authorization } })).toEqual({ close: 4400 });
    expect(await ending({ connectionParams: { authorization: 7 } })).toEqual({ close: 4400 });
  });

  it('reads the credential from connection_init or from a header of the upgrade', async () => {
    const authorization = `Bearer ${ada.token}`;
    for (const options of [
      { connectionParams: { authorization } },
      { connectionParams: { Authorization: authorization } },
      { headers: { authorization } },
    ]) {
      const subscriber = subscribeTo(users(), { query: '{ me { id } }', ...options });
      expect(await subscriber.end()).toEqual({});
      expect(subscriber.results).toEqual([{ data: { me: { id: ada.id } } }]);
    }
  });

  it.each([
    '{ me { id email } users { id email } }',
    '{ users(pagination: { limit: 0 }) { id } }',
    'mutation { updateUser(id: "usr_nobody", input: { bio: "x" }) { id } }',
    'mutation { login(email: "ada@example.org", password: "Ada-passes-1") { user { id } } }',
  ])('answers as HTTP does: %s', async (query) => {
    const subscriber = subscribeTo(users(), { query, token: ada.token, connectionParams: { 'x-request-id': REQUEST_ID } });
    expect(await subscriber.end()).toEqual({});
    const options = { method: 'POST', body: { query }, token: ada.token, headers: { 'x-request-id': REQUEST_ID } };
    expect(subscriber.results).toEqual([(await request(`${users()}/graphql`, options)).body]);
  });

  it('is closed with 4403 when its token expires', async () => {
    // It is good for 5 s more, as clocks differ.
    const token = stack.issueEndingToken(ada.id, 'USER', -3);
    const subscriber = subscribeTo(users(), { query: QUERY, token, resume: {} });
    await subscriber.wait(1);
    expect(await subscriber.end()).toEqual({ close: 4403 });
    expect(await ending({ token })).toEqual({ close: 4401 });
  });

  it('gets an `error` message with codes for an invalid operation', async () => {
    for (const [query, variables] of [
      ['subscription {', {}],
      ['subscription { nothing }', {}],
      ['subscription A { userCreated { id } } subscription B { userCreated { id } }', {}],
      ['query ($id: ID!) { user(id: $id) { id } }', {}],
      ['{ user { id } }', {}],
    ] as const)
      expect([query, await subscribeTo(users(), { query, variables }).end()]).toEqual([query, { codes: ['VALIDATION_ERROR'] }]);
  });

  // graphql-transport-ws, Invalid message.
  it.each(['next', 'error', 'connection_ack'])('is closed with 4400 for the message `%s`, which only servers send', async (type) => {
    const socket = connect();
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket, 'message');
    socket.send(JSON.stringify({ type, id: '1', payload: type === 'error' ? [{ message: 'x' }] : {} }));
    expect(await once(socket, 'close')).toEqual([4400, Buffer.from('Invalid message received')]);
  });

  it('is closed without connection_init in time and for large messages, and is served on /graphql only', async () => {
    const closeOf = (socket: WebSocket) => new Promise<number>((resolve) => socket.on('error', () => undefined).once('close', resolve));
    const silent = closeOf(connect());
    const large = connect();
    large.once('open', () => {
      large.send('x'.repeat(1024 * 1024 + 1));
    });
    expect(await closeOf(large)).toBe(1009);
    expect(await silent).toBe(4408);
    const status = new Promise((resolve) =>
      connect('/livez')
        .on('error', () => undefined)
        .once('unexpected-response', (_, { statusCode }) => {
          resolve(statusCode);
        }),
    );
    expect(await status).toBe(404);
  });

  // graphql-transport-ws, Ping: a pong may repeat the payload; RFC 9293 §3.8.6: who does not read is not read from.
  it('is not read while its peer does not read, and loses nothing', async () => {
    const socket = connect();
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket, 'message');
    let pongs = 0;
    let isClosed = false;
    socket.on('message', () => pongs++);
    socket.on('close', () => (isClosed = true));
    socket.pause();
    const ping = JSON.stringify({ type: 'ping', payload: { text: 'x'.repeat(1_000_000) } });
    for (let n = 0; n < 40; n++) socket.send(ping);
    const moved: number[] = [];
    // Nothing moves any more when ten looks in a row see the same.
    await until(async () => {
      await delay(50);
      return moved.push(socket.bufferedAmount) > 10 && new Set(moved.slice(-10)).size === 1;
    });
    socket.resume();
    await until(() => Promise.resolve(isClosed || pongs === 40));
    expect(pongs).toBe(40);
    socket.terminate();
  });

  it('executes the queries of a peer one after another, the next when the result before was sent, and loses none', async () => {
    const socket = connect();
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'connection_init' }));
    await once(socket, 'message');
    const ended: string[] = [];
    socket.on('message', (data: Buffer) => {
      const { id, type } = JSON.parse(data.toString()) as { id: string; type: string };
      if (type === 'complete') ended.push(id);
    });
    const ids = Array.from({ length: 40 }, (_, n) => String(n));
    // The first are the dearest: executed at once, they would not end first.
    const toQuery = (n: number) => `{ ${Array.from({ length: 40 - n }, (_, i) => `a${String(i)}: users { id }`).join(' ')} }`;
    for (const id of ids) socket.send(JSON.stringify({ id, type: 'subscribe', payload: { query: toQuery(Number(id)) } }));
    await until(() => Promise.resolve(ended.length === ids.length));
    expect(ended).toEqual(ids);
    socket.terminate();
  });

  it('answers VALIDATION_ERROR to an operation of more than 50 root fields, also in fragments and over HTTP', async () => {
    const fields = (name: string) => Array.from({ length: 26 }, (_, i) => `${name}${String(i)}: __typename`).join(' ');
    const query = `{ ${fields('a')} ...F } fragment F on Query { ...G } fragment G on Query { ${fields('b')} }`;
    expect(await subscribeTo(users(), { query }).end()).toEqual({ codes: ['VALIDATION_ERROR'] });
    const { body } = await request(`${users()}/graphql`, { method: 'POST', body: { query } });
    expect(body).toMatchObject({
      errors: [{ message: 'Root field count 52 exceeds the limit of 50.', extensions: { code: 'VALIDATION_ERROR' } }],
    });
  });

  it('carries at most 1,000 operations at a time', async () => {
    const client = createClient({
      url: `${users().replace(/^http/, 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      lazy: false,
      retryAttempts: 0,
    });
    let refused: unknown;
    const stops = Array.from({ length: 1001 }, () =>
      client.subscribe({ query: QUERY }, { next: () => undefined, complete: () => undefined, error: (error) => (refused = error) }),
    );
    await until(() => Promise.resolve(refused !== undefined));
    expect(refused).toMatchObject([{ extensions: { code: 'RATE_LIMIT_EXCEEDED' } }]);
    await until(async () => (await readMetric(users(), 'trestle_subscriptions_open{topic="userCreated"}')) === 1000);
    for (const stop of stops) stop();
    await until(async () => (await readMetric(users(), 'trestle_subscriptions_open{topic="userCreated"}')) === 0);
    await client.dispose();
  });
});

describe('a process after many subscriptions', () => {
  /** Subscribes and unsubscribes so many times over five sockets, ten at a time on each, and closes them. */
  async function subscribeAndReturn(url: string, times: number): Promise<void> {
    const sockets = Array.from({ length: 5 }, () =>
      createClient({ url: `${url.replace(/^http/, 'ws')}/graphql`, webSocketImpl: WebSocket, lazy: false, retryAttempts: 0 }),
    );
    const lanes = sockets.flatMap((client) => Array.from({ length: 10 }, () => client));
    await Promise.all(
      lanes.map(async (client) => {
        for (let i = 0; i < times / lanes.length; i++) {
          const events = client.iterate({ query: QUERY, extensions: { resume: {} } });
          await events.next();
          await events.return?.();
        }
      }),
    );
    await Promise.all(sockets.map(async (client) => client.dispose()));
    await until(async () => (await readMetric(url, 'trestle_subscriptions_open{topic="userCreated"}')) === 0);
  }

  it('has as many handles and as large a heap as before 5,000 of them', async () => {
    const { url } = await stack.startSubgraph('users', COLLECT_GARBAGE);
    const handles = () => sumMetric(url, 'nodejs_active_handles');
    const heap = () => readMetric(url, 'nodejs_heap_size_used_bytes');
    // Code is compiled and caches are filled before it is measured.
    await subscribeAndReturn(url, 1500);
    // Connections of its pools come and go: consumers and workers use some more, and some less.
    let [handlesBefore, heapBefore] = [0, Infinity];
    for (let i = 0; i < 200; i++)
      [handlesBefore, heapBefore] = [Math.max(handlesBefore, await handles()), Math.min(heapBefore, await heap())];
    await subscribeAndReturn(url, 5000);
    await until(async () => (await handles()) <= handlesBefore);
    // Less than 400 bytes of each.
    await until(async () => (await heap()) < heapBefore + 2_000_000);
  }, 120_000);
});

it('closes sockets with 1001 when the process gets SIGTERM, and ends at once', async () => {
  const process = await stack.startSubgraph('users');
  const subscribers = Array.from({ length: 20 }, () => subscribeTo(process.url, { query: QUERY, resume: {} }));
  await Promise.all(subscribers.map((subscriber) => subscriber.wait(1)));
  const began = performance.now();
  await process.end('SIGTERM');
  expect(performance.now() - began).toBeLessThan(4000);
  for (const subscriber of subscribers) expect(await subscriber.end()).toEqual({ close: 1001 });
});
