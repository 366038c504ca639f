import { once } from 'node:events';
import { type RequestListener, type Server, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { endBeforeBody, endsBeforeBody } from './streamed-body.ts';

let server: Server;
let client: Socket;
afterEach(() => {
  client.destroy();
  server.close();
});

/** Sends the head of a POST, or all of a request, to a server with this handler. */
async function send(text: string, handle: RequestListener): Promise<void> {
  server = createServer(handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(text);
}

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n';
const CLOSING = { connection: 'close', 'content-length': '7' };
const refuse: RequestListener = (request, response) => {
  response.writeHead(413, CLOSING);
  endBeforeBody(request, response, 'refused');
};

describe('a response that ends the connection before the body has arrived', () => {
  it('is sent at once, and the connection ends after the body', async () => {
    await send(HEAD, refuse);
    const [first] = (await once(client, 'data')) as [Buffer];
    expect(first.toString()).toMatch(/^HTTP\/1\.1 413 [\s\S]*refused$/);
    client.write(Buffer.alloc(1_000_000));
    // It would be `error`, with a reset, if the server had closed the connection before.
    await once(client, 'end');
    expect(client.bytesWritten).toBe(HEAD.length + 1_000_000);
  });

  it('ends the connection of a client that does not send the rest', async () => {
    await send(HEAD, refuse);
    client.resume();
    await once(client, 'end');
    expect(client.bytesWritten).toBe(HEAD.length);
  });
});

describe('endsBeforeBody', () => {
  it.each([
    ['a body that is still arriving and a connection that ends', HEAD, CLOSING, true],
    ['a body that is still arriving and a connection that stays', HEAD, {}, false],
  ])('for %s', async (_, text, headers, expected) => {
    const found = new Promise<boolean>((resolve) => {
      void send(text, (request, response) => {
        resolve(endsBeforeBody(request, response, headers));
        response.end();
      });
    });
    expect(await found).toBe(expected);
  });

  it('is false for a request that has arrived wholly', async () => {
    const found = new Promise<boolean>((resolve) => {
      void send('GET / HTTP/1.1\r\nHost: a\r\n\r\n', (request, response) => {
        request.resume().once('end', () => {
          resolve(endsBeforeBody(request, response, CLOSING));
          response.end();
        });
      });
    });
    expect(await found).toBe(false);
  });
});
