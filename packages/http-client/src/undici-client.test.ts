/** What only undici offers. */
import { type ServerHttp2Stream, createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createSelfSigned } from '@trestle/service/testing/test-authority';
import { Fixtures, OPTIONS, failPost, post } from './raw-server.ts';
import { createUndiciClient } from './undici-client.ts';
import type { ClientError } from './upstream-client.ts';

const fixtures = new Fixtures();
afterEach(() => fixtures.close());

describe('the client of undici', () => {
  it('fails with TIMEOUT when the whole response takes too long, although its parts follow each other at once', async () => {
    const { origin } = await fixtures.listen((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      const parts = setInterval(() => socket.write('x'), 10);
      socket.once('close', () => {
        clearInterval(parts);
      });
    });
    const client = createUndiciClient(origin, { ...OPTIONS, timeoutMs: 2000 });
    expect(await failPost(client)).toBe('TIMEOUT, responding');
    await client.close();
  });

  it('fails with TIMEOUT when no connection is free in time', async () => {
    const { origin } = await fixtures.listen(() => undefined);
    const client = createUndiciClient(origin, { ...OPTIONS, maxConnections: 1, timeoutMs: 300 });
    const first = failPost(client);
    // Began earlier: the end of the first would give it the connection.
    const waiting = { path: '/graphql', headers: [], body: '{}', startedAt: performance.now() - 200 };
    const { code, progress } = await new Promise<ClientError>((resolve, reject) => {
      client.send(waiting, { onResponse: reject, onFailure: resolve });
    });
    expect([await first, code, progress]).toEqual(['TIMEOUT, sent', 'TIMEOUT', 'unsent']);
    await client.close();
  });

  it('calls a server that offers HTTP/2 by HTTP/2', async () => {
    const { cert, key } = await createSelfSigned();
    const server = createSecureServer({ cert, key });
    server.on('stream', (stream: ServerHttp2Stream) => {
      let body = '';
      stream.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')));
      stream.on('end', () => {
        stream.respond({ ':status': 200, 'x-test': 'by HTTP/2' });
        stream.end(body, 'latin1');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const context = createSecureContext({ ca: cert });
    const client = createUndiciClient(`https://localhost:${String((server.address() as AddressInfo).port)}`, {
      ...OPTIONS,
      tls: () => context,
    });
    const { status, body, headers } = await post(client, '{"a":"é"}', ['content-type', 'application/json']);
    expect({ status, body: Buffer.from(body, 'latin1').toString(), by: headers['x-test'] }).toEqual({
      status: 200,
      body: '{"a":"é"}',
      by: 'by HTTP/2',
    });
    await client.close();
    await new Promise((resolve) => server.close(resolve));
  });

  it('fails with INVALID_REQUEST for a header field that must not be sent', async () => {
    const client = createUndiciClient('http://127.0.0.1:9', OPTIONS);
    expect(await failPost(client, '{}', ['x', 'a\r\nb'])).toMatch(/^INVALID_REQUEST/);
    await client.close();
  });
});
