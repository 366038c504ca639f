/** What the service sends without the handler of its process: preflights and redirects. */
import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createEdge } from '../edge/edge.ts';
import { createPreflightHandler } from '../edge/preflight.ts';
import { createRedirect } from './redirect.ts';
import { NO_PROXIES } from '../clients/trusted-proxies.ts';

const options = {
  log: createLog({ service: 'test', level: 'silent' }),
  headersOf: (url: string | undefined) => ({ 'api-version': url?.startsWith('/v2/') === true ? '2' : '1' }),
};
const ID = '6f1c9a52-4f0c-4d0f-9d7b-0c7a4a5b9f11';

let server: Server;
afterEach(() => {
  server.close();
});

/** Sends a request for `/v2/users` to a server with this handler. Returns the status, and the headers that every response has. */
async function send(handle: RequestListener, method = 'GET', headers: Readonly<Record<string, string>> = {}) {
  server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/v2/users`;
  const response = await fetch(url, { method, redirect: 'manual', headers: { ...headers, 'x-request-id': ID } });
  return [response.status, ...['api-version', 'x-request-id', 'cache-control'].map((name) => response.headers.get(name))];
}

describe('the headers of every response', () => {
  it.each([
    ['https://app.example', 204],
    ['https://evil.example', 403],
  ])('are sent with the answer to a preflight of %s, which is %i', async (origin, status) => {
    const edge = createEdge({ proxies: NO_PROXIES, publicUrls: [], origins: ['https://app.example'], methods: ['GET'] });
    const answer = createPreflightHandler(edge, options);
    const headers = { origin, 'access-control-request-method': 'GET' };
    expect(await send((request, response) => void answer(request, response), 'OPTIONS', headers)).toEqual([status, '2', ID, 'no-store']);
  });

  it('are sent with a redirect to HTTPS', async () => {
    const redirect = createRedirect({ ...options, publicUrl: 'https://api.example', readCertificate: () => undefined });
    expect(await send(redirect.respond)).toEqual([308, '2', ID, 'no-store']);
  });

  it('are sent with a redirect on a connection that Node.js no longer manages', async () => {
    const redirect = createRedirect({ ...options, publicUrl: 'https://api.example', readCertificate: () => undefined });
    const respond: RequestListener = (request) => {
      redirect.respondBare(request, request.socket, () => []);
    };
    expect(await send(respond)).toEqual([308, '2', ID, 'no-store']);
  });
});
