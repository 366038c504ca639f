/** Bodies that arrive in small chunks, over real connections. */
import { type IncomingMessage, type Server, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { readJoined } from './joined-pieces.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Sends a body by this function. Resolves with the pieces that a handler reads, and how many milliseconds it took. */
async function receive(send: (socket: Socket) => Promise<void>): Promise<{ readonly pieces: Buffer[]; readonly elapsedMs: number }> {
  let read: (request: IncomingMessage) => void = () => undefined;
  const reading = new Promise<Buffer[]>((resolve, reject) => {
    read = (request) => {
      collect(request).then(resolve, reject);
    };
  });
  const server = createServer((request, response) => {
    read(request);
    request.once('close', () => response.end());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const beganAt = performance.now();
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  await send(socket.setNoDelay(true));
  const pieces = await reading;
  socket.destroy();
  return { pieces, elapsedMs: performance.now() - beganAt };
}

async function collect(request: IncomingMessage): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of readJoined(request)) pieces.push(Buffer.from(piece));
  return pieces;
}

const write = (socket: Socket, bytes: string) => new Promise<void>((resolve) => socket.write(bytes, () => setImmediate(resolve)));

describe('a body that is passed on', () => {
  it('has few pieces when its chunks have one byte each and arrive one after the other', async () => {
    const chunks = 2000;
    const { pieces, elapsedMs } = await receive(async (socket) => {
      await write(socket, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
      for (let i = 0; i < chunks; i++) await write(socket, '1\r\nx\r\n');
      await write(socket, '0\r\n\r\n');
    });
    expect(Buffer.concat(pieces).toString()).toBe('x'.repeat(chunks));
    // One for each pause of 5 ms; timers of Node.js may be a millisecond early.
    expect(pieces.length).toBeLessThan(elapsedMs / 4 + 5);
  });

  it('is read more slowly the more chunks it has, and is whole', async () => {
    const chunks = 150_000;
    const { pieces, elapsedMs } = await receive((socket) =>
      write(socket, `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`),
    );
    expect(Buffer.concat(pieces)).toHaveLength(chunks);
    // 20 µs for each chunk but those that arrive with the last piece.
    expect(elapsedMs).toBeGreaterThan(1000);
  });

  it('is whole, and has large pieces, when it arrives fast', async () => {
    const body = 'ä'.repeat(5_000_000);
    const { pieces } = await receive((socket) =>
      write(socket, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`),
    );
    expect(Buffer.concat(pieces).toString()).toBe(body);
    expect(pieces.length).toBeLessThan(1000);
  });
});
