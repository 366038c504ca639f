/** What clients get that would subscribe while the gateway stops: the error of every refused request, with `Retry-After` (spec §8). */
import { request as httpRequest } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const REQUEST_ID = '6f1c2a52-7f0a-4f0e-9d6e-0d5b9a2f4d11';
const HANDSHAKE = {
  ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
  ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-protocol': 'graphql-transport-ws' },
};
const sources = {
  harbours: {
    sdl: 'type Query { harbour: String } type Subscription { arrived: String }',
    resolvers: { Query: { harbour: () => 'HAM' } },
  },
};

let federation: Federation;
beforeAll(async () => {
  // It stays in the time in which load balancers notice that it stops.
  federation = await startFederation(sources, { env: { DRAIN_DELAY_MS: '300000', SUBSCRIPTION_DRAIN_MS: '300000' } });
  process.kill(federation.gateway.pid as number, 'SIGTERM');
  await until(async () => (await request(`${federation.gateway.url}/readyz`, { method: 'GET' })).status === 503);
});
afterAll(async () => {
  await federation.gateway.end('SIGKILL');
  await federation.stop();
});

const REFUSED = {
  errors: [{ message: 'The server is shutting down.', extensions: { code: 'SERVICE_UNAVAILABLE', retryAfter: 1, requestId: REQUEST_ID } }],
};

describe('while the gateway stops', () => {
  it('a request for a WebSocket is refused', async () => {
    const asked = httpRequest(federation.url, { headers: { ...HANDSHAKE, 'x-request-id': REQUEST_ID } });
    const refused = await new Promise<{ status: number | undefined; headers: object; body: unknown }>((resolve, reject) => {
      asked.on('response', (response) => {
        text(response).then((body) => {
          resolve({ status: response.statusCode, headers: response.headers, body: JSON.parse(body) as unknown });
        }, reject);
      });
      asked.on('error', reject).end();
    });
    expect(refused).toEqual({ status: 503, headers: expect.anything(), body: REFUSED });
    expect(refused.headers).toMatchObject({
      ...{ connection: 'close', 'retry-after': '1', 'x-request-id': REQUEST_ID, 'cache-control': 'no-store' },
      'content-type': 'application/json; charset=utf-8',
    });
  });

  it.each(['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'])('a subscription by %s is refused', async (accept) => {
    const body = { query: 'subscription { arrived }' };
    const refused = await request(federation.url, { method: 'POST', body, headers: { accept, 'x-request-id': REQUEST_ID } });
    expect([refused.status, refused.headers.get('retry-after'), refused.headers.get('connection')]).toEqual([503, '1', 'close']);
    expect(JSON.parse(refused.text)).toEqual(REFUSED);
  });

  it('a query is executed', async () => {
    expect((await federation.ask('{ harbour }')).body).toEqual({ data: { harbour: 'HAM' } });
  });
});
