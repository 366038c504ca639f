/** With a gateway of the test. */
import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createGatewayClient } from './gateway-client.ts';

const POSITION = { data: null, extensions: { position: '1' } };
const EVENT = { data: { eventAdded: { id: 'evt_1' } } };
let server: Server;
let client: ReturnType<typeof createGatewayClient>;
/** What the gateway responds with. */
let respond: (response: ServerResponse) => void;

beforeEach(async () => {
  server = createServer((request, response) => {
    request.resume();
    respond(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = createClient(1000);
});
afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function createClient(timeoutMs: number) {
  return createGatewayClient({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`, timeoutMs });
}
const subscribe = (signal = new AbortController().signal) =>
  client.subscribe({ bodyStart: '{"query":"subscription { a }","variables":', variables: {}, headers: {}, after: undefined, signal });
const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
const send = (response: ServerResponse, result: object) => response.write(`event: next\ndata: ${JSON.stringify(result)}\n\n`);

describe('subscribe', () => {
  it.each<[string, typeof respond]>([
    ['sends no head', () => undefined],
    ['sends a head and no result', (response) => begin(response).write(':\n\n')],
    ['sends no end of a result', (response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{')],
  ])('throws UPSTREAM_TIMEOUT when the gateway %s in time', async (_, answer) => {
    respond = answer;
    await client.close();
    client = createClient(100);
    await expect(subscribe().next()).rejects.toMatchObject({ code: 'UPSTREAM_TIMEOUT' });
  });

  it('has no time limit for the results behind the first one', async () => {
    respond = (response) => {
      send(begin(response), POSITION);
      setTimeout(() => {
        send(response, EVENT);
        response.end('event: complete\ndata: \n\n');
      }, 1200);
    };
    const results: unknown[] = [];
    for await (const result of subscribe()) results.push(result);
    expect(results).toEqual([POSITION, EVENT]);
  });

  it('ends without an error when its signal is aborted, before and after the first result', async () => {
    respond = (response) => begin(response).write(':\n\n');
    const before = new AbortController();
    const first = subscribe(before.signal).next();
    before.abort();
    expect(await first).toEqual({ done: true, value: undefined });
    respond = (response) => send(begin(response), POSITION);
    const after = new AbortController();
    const results = subscribe(after.signal);
    expect((await results.next()).value).toEqual(POSITION);
    const next = results.next();
    after.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });
});
