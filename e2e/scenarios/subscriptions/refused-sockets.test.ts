/** Requests for a WebSocket that are refused: the GraphQL error of every refused request (contract §3), and `Retry-After` (spec §8). */
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';

const REQUEST_ID = '6f1c2a52-7f0a-4f0e-9d6e-0d5b9a2f4d10';
const HANDSHAKE = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'x-request-id': REQUEST_ID },
  ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-protocol': 'graphql-transport-ws' },
};

let stack: LeasedStack;
let gateway: RunningProcess;
beforeAll(async () => {
  stack = await leaseStack();
  gateway = await stack.startGateway({ TRUSTED_PROXIES: '127.0.0.1', RATE_LIMIT_ANONYMOUS_PER_MIN: '1', MAX_SOCKETS: '0' });
});
afterAll(() => stack.stop());

/** Asks for a WebSocket, from an address of its own unless `from` is given. */
let clients = 0;
const ask = (path: string, headers: Record<string, string> = {}, from = `203.0.113.${String(++clients)}`) =>
  send(`${gateway.url}${path}`, { headers: { ...HANDSHAKE, 'x-forwarded-for': from, ...headers } });
const send = (url: string, options: { readonly headers: Record<string, string>; readonly method?: string }) =>
  new Promise<{ status: number | undefined; read: (name: string) => unknown; errors: unknown }>((resolve, reject) => {
    const asked = httpRequest(url, options);
    asked.on('response', (response) => {
      text(response).then((body) => {
        const { errors } = JSON.parse(body === '' ? '{}' : body) as { errors?: unknown };
        resolve({ status: response.statusCode, read: (name) => response.headers[name], errors });
      }, reject);
    });
    asked.on('error', reject).end();
  });

describe('a request for a WebSocket', () => {
  it.each<[string, string, Record<string, string>, number, string]>([
    ['for another path', '/nothing', {}, 404, 'NOT_FOUND'],
    ['with an API key in the URL', '/graphql?apiKey=trestle_live_1', {}, 400, 'VALIDATION_ERROR'],
    ['with a long URL', `/graphql?x=${'a'.repeat(9000)}`, {}, 414, 'URI_TOO_LONG'],
    ['beyond MAX_SOCKETS', '/graphql', {}, 503, 'SERVICE_UNAVAILABLE'],
  ])('%s is answered with its code and the request id', async (_, path, headers, status, code) => {
    const refused = await ask(path, headers);
    expect([refused.status, refused.read('x-request-id')]).toEqual([status, REQUEST_ID]);
    expect(refused.errors).toEqual([{ message: expect.any(String), extensions: expect.objectContaining({ code, requestId: REQUEST_ID }) }]);
  });

  it.each<[string, { headers?: Record<string, string>; method?: string }, number, string, string]>([
    [
      'of an unknown version of the protocol',
      { headers: { 'sec-websocket-version': '7' } },
      400,
      'VALIDATION_ERROR',
      'sec-websocket-version',
    ],
    ['by POST', { method: 'POST' }, 405, 'METHOD_NOT_ALLOWED', 'allow'],
  ])('%s is answered with its code, the request id and what is accepted', async (_, { headers, ...options }, status, code, accepted) => {
    const refused = await send(`${stack.gateway}/graphql`, { headers: { ...HANDSHAKE, ...headers }, ...options });
    expect([refused.status, refused.read('x-request-id')]).toEqual([status, REQUEST_ID]);
    expect(refused.errors).toEqual([{ message: expect.any(String), extensions: expect.objectContaining({ code, requestId: REQUEST_ID }) }]);
    expect(refused.read(accepted)).toBeTruthy();
  });

  it.each(['/nothing', '/graphql'])('for %s is refused with the headers of every response', async (path) => {
    const [refused, response] = [await ask(path), await request(`${gateway.url}/nothing`, { method: 'GET' })];
    const names = [...response.headers.keys()].filter((name) => name.includes('-policy') || name.startsWith('x-'));
    expect(names).toEqual(expect.arrayContaining(['content-security-policy', 'x-content-type-options', 'x-frame-options']));
    for (const name of ['date', ...names]) expect([name, refused.read(name)]).toEqual([name, expect.any(String)]);
    const secure = await ask(path, { 'x-forwarded-proto': 'https' });
    expect(secure.read('strict-transport-security')).toMatch(/^max-age=\d+/);
  });

  it('that there is no room for has Retry-After', async () => {
    const refused = await ask('/graphql');
    expect([refused.status, refused.read('retry-after')]).toEqual([503, '1']);
  });

  it('beyond the rate limit has the limit in `extensions`, and Retry-After once', async () => {
    const from = '203.0.113.200';
    await ask('/graphql', {}, from);
    const refused = await ask('/graphql', {}, from);
    expect(refused.status).toBe(429);
    expect(refused.errors).toEqual([
      {
        message: expect.any(String),
        extensions: expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', retryAfter: Number(refused.read('retry-after')), limit: 1 }),
      },
    ]);
  });
});
