import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { renderError } from './render-error.ts';
import { readBytes } from '../http/read-bytes.ts';
import { sendResponse } from '../http/send-response.ts';

const LIMIT = 1024 * 1024;

let server: Server;
let client: Socket;
let peer: Socket;
afterEach(() => {
  client.destroy();
  server.close();
});

/** Connects to a server that answers with the size of a body, or with the error of the API. */
async function open(): Promise<void> {
  server = createServer((request, response) => {
    void readBytes(request, LIMIT).then(
      ({ length }) => response.end(String(length)),
      async (error: unknown) => {
        sendResponse(request, response, (await renderError({ request, requestId: 'r' }, error, { common: {} })).response);
      },
    );
  }).listen(0, '127.0.0.1');
  server.on('connection', (socket) => (peer = socket));
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
}

/** Resolves with all that the server sends until it ends the connection; rejects when it resets the connection. */
async function read(): Promise<string> {
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(client, 'end');
  return text;
}

/** Sends one chunk of a body. */
function sendChunk(bytes: number): void {
  client.write(`${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n`);
}

const HEAD = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
const END = '0\r\n\r\n';

describe('readBytes', () => {
  it('returns a body in chunks up to the limit', async () => {
    await open();
    client.write(HEAD);
    sendChunk(LIMIT);
    client.write(END);
    expect(await read()).toMatch(/^HTTP\/1\.1 200 [\s\S]*1048576/);
  });

  it('lets a client that sends more than the limit in chunks read the whole 413, and reads what it still sends', async () => {
    await open();
    client.write(HEAD);
    sendChunk(LIMIT + 1);
    const answer = read();
    await once(client, 'data');
    sendChunk(LIMIT);
    client.write(END);
    const [, body = ''] = (await answer).split('\r\n\r\n');
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'PAYLOAD_TOO_LARGE' } });
    // The connection of a client that still sends would be reset.
    expect(peer.bytesRead).toBe(client.bytesWritten);
  });
});
