import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, it } from '@jest/globals';
import { keepSending } from './idle-connections.ts';

/** More than the kernel holds for a client that does not read. */
const BODY = Buffer.alloc(8 * 1024 * 1024);

it('sends a response that was ended before the server closes to a slow client, and then closes its connection', async () => {
  const server = createServer((_, response) => response.end(BODY));
  keepSending(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  let length = 0;
  socket.on('data', (chunk: Buffer) => (length += chunk.length));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'data');
  socket.pause();
  server.close();
  server.closeIdleConnections();
  socket.resume();
  while (length < BODY.length && !socket.closed) await new Promise(setImmediate);
  expect(length).toBeGreaterThan(BODY.length);
  while (!socket.closed) {
    server.closeIdleConnections();
    await new Promise(setImmediate);
  }
});
