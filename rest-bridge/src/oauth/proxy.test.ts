import { once } from 'node:events';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Cancellation } from '@trestle/service/process/cancellation';
import type { ReceivedRequest } from '../pipeline/receive.ts';
import { type OAuthProxy, createOAuthProxy } from './proxy.ts';

let server: Server;
let proxy: OAuthProxy;
beforeAll(async () => {
  // The authorization server: it answers with the status that the path names.
  server = createServer((request, response) => {
    const status = Number(request.url?.slice(1));
    response.writeHead(status, status === 200 ? { 'content-length': '5', vary: 'Origin, Cookie' } : { vary: 'origin' });
    response.end(status === 200 ? 'hello' : undefined);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxy = createOAuthProxy({ url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`, timeoutMs: 1000 });
});
afterAll(async () => {
  await proxy.close();
  server.close();
});

function forward(method: string, url: string) {
  const request = Object.assign(Readable.from([]), { method, url, headers: {} }) as unknown as IncomingMessage;
  const context = { request, requestId: 'r1', cancellation: new Cancellation() };
  return proxy.forward({ context, slot: { acquire: () => undefined } } as unknown as ReceivedRequest);
}

describe('the Vary of a response that is passed on', () => {
  it('does not name Origin, which the bridge adds itself', async () => {
    expect((await forward('GET', '/200')).headers['vary']).toBe('Cookie');
    expect((await forward('GET', '/404')).headers).not.toHaveProperty('vary');
  });
});

describe('the Content-Length of a response that is passed on', () => {
  it.each([
    ['GET', '/200', '5'],
    ['HEAD', '/200', '5'],
    ['GET', '/404', '0'],
    ['HEAD', '/404', undefined],
    ['GET', '/204', undefined],
    ['GET', '/304', undefined],
  ])('of %s %s is %p', async (method, path, length) => {
    expect((await forward(method, path)).contentLength).toBe(length);
  });
});
