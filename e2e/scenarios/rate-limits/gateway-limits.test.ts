/** Requests per minute at the gateway, by the cost of their operations (spec §7.1, §8). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';
import { type Sent, LIMITS, TRUSTING, postTo, send, sendBytes } from './clients.ts';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

const bearer = (account: Account) => ({ authorization: `Bearer ${account.token}` });

describe('the gateway', () => {
  let gateway: RunningProcess;
  beforeAll(async () => {
    gateway = await stack.startGateway(LIMITS);
  });
  const post = (query: string, from: string, headers: Record<string, string> = {}) => postTo(gateway, query, { from, headers });

  it('refuses requests beyond the limit with 429 and the limit in `extensions`', async () => {
    const replies = [];
    for (let i = 0; i < 4; i++) replies.push(await post('{ __typename }', '203.0.113.1'));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(replies.map(({ left }) => left)).toEqual(['2', '1', '0', '0']);
    const { errors } = JSON.parse(replies[3]?.text ?? '') as { errors: { extensions: object }[] };
    expect(errors[0]?.extensions).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit: 3, remaining: 0 });
    expect(errors[0]?.extensions).toHaveProperty('retryAfter', Number(replies[3]?.read('retry-after')));
    expect(errors[0]?.extensions).toHaveProperty('resetAt');
  });

  it.each(['trestle', 'apollo'])('counts an operation by its estimated cost, and refuses it before it is executed: %s', async (engine) => {
    const own = engine === 'trestle' ? gateway : await stack.startGateway({ ...LIMITS, GATEWAY_ENGINE: engine });
    const post = (query: string, from: string, headers: Record<string, string> = {}) => postTo(own, query, { from, headers });
    const huge = '{ usersConnection(first: 100) { edges { node { posts { id author { id } } } } } }';
    const asked = await post(huge, '203.0.113.3', { ...bearer(ada), 'trestle-cost': '1' });
    const { estimated } = (JSON.parse(asked.text) as { extensions: { cost: { estimated: number } } }).extensions.cost;
    const units = Math.ceil(estimated / 1000);
    expect(units).toBeGreaterThan(2);
    expect([asked.status, Number(asked.left)]).toEqual([200, Math.max(0, 5 - units)]);
    await post('{ __typename }', '203.0.113.2');
    const refused = await post(huge, '203.0.113.2');
    expect([refused.status, refused.read('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(refused.text).not.toContain('"data"');
  });

  it.each([
    ['404', '/nothing', {}, 404],
    ['405', '/graphql', { method: 'PATCH' }, 405],
    ['400', '/graphql?query={', {}, 400],
    ['415', '/graphql', { method: 'POST', body: 'x' }, 415],
    ['the page', '/graphql', { headers: { accept: 'text/html' } }, 200],
  ])('counts and describes the limit on %s', async (_, path, init, status) => {
    const reply = await send(gateway, path, {
      from: `192.0.2.${String(status % 255)}`,
      ...(init as Omit<Sent, 'from'>),
    });
    expect([reply.status, reply.read('x-ratelimit-limit')]).toEqual([status, '3']);
  });

  it('counts each operation of a WebSocket', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-forwarded-for': '203.0.113.4' },
    });
    const messages: { type: string; payload?: { extensions?: object }[] }[] = [];
    const opened = new Promise<string | string[] | undefined>((resolve, reject) => {
      socket.on('upgrade', ({ headers }) => {
        resolve(headers['x-ratelimit-remaining']);
      });
      socket.on('error', reject);
    });
    const ended = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const message = JSON.parse(data.toString()) as (typeof messages)[number];
        messages.push(message);
        if (message.type === 'connection_ack')
          for (let i = 0; i < 3; i++)
            socket.send(JSON.stringify({ id: String(i), type: 'subscribe', payload: { query: '{ __typename }' } }));
        if (message.type === 'error') resolve();
      });
    });
    socket.on('open', () => {
      socket.send('{"type":"connection_init"}');
    });
    // The request for the WebSocket counts too.
    expect(await opened).toBe('2');
    await ended;
    socket.close();
    expect(messages.filter(({ type }) => type === 'complete')).toHaveLength(2);
    expect(messages.at(-1)?.payload?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', limit: 3, remaining: 0 });
  });

  it('counts and describes the limit on what is refused before any handler, WebSockets included', async () => {
    const own = await stack.startGateway(LIMITS);
    const upgrade = (headers: string) =>
      sendBytes(own, `GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`);
    expect(await sendBytes(own, 'GET /graphql HTTP/1.1\r\n\r\n')).toEqual([[400, 2]]);
    expect(await upgrade('Origin: https://evil.example\r\n')).toEqual([[403, 1]]);
    expect(await upgrade('Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: none\r\n')).toEqual([[400, 0]]);
    expect(await upgrade('')).toEqual([[429, 0]]);
    expect(await sendBytes(own, 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n')).toEqual([[501, 0]]);
  });

  it('does not count the calls of the bridge a second time', async () => {
    const limited = await stack.startBridge({ ...TRUSTING, GATEWAY_URL: `${gateway.url}/graphql` });
    for (let i = 0; i < 8; i++) expect((await send(limited, '/v1/products?limit=1', { from: '203.0.113.5' })).status).toBe(200);
    expect((await post('{ __typename }', '203.0.113.5')).left).toBe('2');
    // Without the key of the system the header counts for nothing.
    for (let i = 0; i < 2; i++)
      await post('{ __typename }', '203.0.113.6', { 'trestle-client': `AAAAAAAAAAAAAAAA.203.0.113.0/24.${'A'.repeat(43)}` });
    expect((await post('{ __typename }', '203.0.113.6')).left).toBe('0');
  });
});
