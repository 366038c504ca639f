/** What only undici offers. */
import { type ServerHttp2Stream, createSecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createSecureContext } from 'node:tls';
import { describe, expect, it } from '@jest/globals';
import { createSelfSigned } from '@trestle/service/testing/test-authority';
import { OPTIONS, failPost, post } from './raw-server.ts';
import { createUndiciClient } from './undici-client.ts';

describe('the client of undici', () => {
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
