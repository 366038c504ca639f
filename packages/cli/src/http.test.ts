import { getEventListeners, once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendGraphQL } from './http.ts';

let server: Server;
let origin: string;
beforeAll(async () => {
  // A GraphQL server that answers everything but the path `/silent`.
  server = createServer((request, response) => {
    if (request.url !== '/silent') response.end('{"data":{"ok":true}}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const send = (path: string, options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}) =>
  sendGraphQL({ url: new URL(path, origin), query: '{ ok }', timeoutMs: 10_000, ...options });

describe('sendGraphQL', () => {
  it('names the time limit when the server does not respond within it', async () => {
    const message = `${origin} cannot be reached: no response within 0.1 s.`;
    await expect(send('/silent', { timeoutMs: 100 })).rejects.toMatchObject({ code: 'UNREACHABLE', message });
  });

  it('ends the request when the signal is aborted, before it or while it waits', async () => {
    const stop = new AbortController();
    const waiting = send('/silent', { signal: stop.signal });
    stop.abort();
    const results = await Promise.allSettled([waiting, send('/', { signal: stop.signal })]);
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  });

  it('leaves no listener on a signal that outlives its requests', async () => {
    const { signal } = new AbortController();
    for (let sent = 0; sent < 20; sent++) expect(await send('/', { signal })).toEqual({ data: { ok: true } });
    await send('/silent', { signal, timeoutMs: 50 }).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });
});
