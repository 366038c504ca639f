import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPipelinedBytes } from './pipelined-bytes.ts';
import { readInParts } from './reads-in-parts.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let client: Socket;
let bytes = createPipelinedBytes();
const upgraded: Socket[] = [];
afterEach(() => {
  bytes = createPipelinedBytes();
  client.destroy();
  for (const socket of upgraded.splice(0)) socket.destroy();
  server.closeAllConnections();
  server.close();
});

/** Starts a server with this handler, and opens a connection to it. */
async function open(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Socket> {
  server = createServer(handle);
  readInParts(server, { bytes, onFlood: () => undefined });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
  await once(client, 'connect');
  return client;
}

describe('requests that arrive in one read', () => {
  const bodies = fc.array(fc.oneof(fc.constantFrom('', '\r\n\r\n', '\r\n\r\n'.repeat(600)), fc.string({ unit: 'binary' })), {
    minLength: 8,
    maxLength: 60,
  });

  it('are read as they were sent, whatever their bodies are', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (sent) => {
        const received: Promise<string>[] = [];
        const socket = await open((request, response) => {
          received.push(text(request));
          response.end();
        });
        const requests = sent.map(
          (body) => `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(Buffer.byteLength(body))}\r\n\r\n${body}`,
        );
        socket.resume().end(requests.join(''));
        await once(socket, 'close');
        server.close();
        expect(await Promise.all(received)).toEqual(sent);
      }),
      { numRuns: 20 },
    );
  });

  it('are not read any more when one of them has closed the connection', async () => {
    let count = 0;
    const socket = await open(({ socket: own }) => {
      if (++count === 10) own.destroy();
    });
    socket.write(REQUEST.repeat(1000));
    await once(socket.resume(), 'close');
    expect(count).toBeLessThan(100);
  });

  it('are all read in the end when the client reads responses late', async () => {
    let count = 0;
    const body = Buffer.alloc(256 * 1024);
    const socket = await open((_, response) => {
      count++;
      response.end(body);
    });
    let length = 0;
    socket.pause().write(REQUEST.repeat(300));
    while (count === 0) await new Promise(setImmediate);
    socket.on('data', (chunk: Buffer) => (length += chunk.length)).resume();
    while (length < 300 * body.length) await once(socket, 'data');
    expect(count).toBe(300);
  });

  it('close the connection when its address has too many bytes that wait for responses to be read', async () => {
    bytes = createPipelinedBytes({ maxOfAddress: 4096 });
    const socket = await open((_, response) => response.end(Buffer.alloc(4 * 1024 * 1024)));
    socket.write(REQUEST.repeat(1000));
    await once(server, 'request');
    await once(socket.resume(), 'close');
  });

  it('are read up to a request for a WebSocket: more behind it closes the connection', async () => {
    const socket = await open((_, response) => response.end());
    server.on('upgrade', (_, own: Socket) => upgraded.push(own));
    const upgrade = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    socket.write(upgrade + REQUEST.repeat(1000));
    await once(socket.resume(), 'close');
    expect(upgraded).toHaveLength(1);
  });

  it('leave what follows a WebSocket upgrade to its handler', async () => {
    const socket = await open((_, response) => response.end());
    const received = new Promise((resolve) => {
      server.on('upgrade', (_, own: Socket, head: Buffer) => {
        upgraded.push(own);
        own.once('data', (chunk: Buffer) => {
          resolve(Buffer.concat([head, chunk]).toString());
        });
        own.write('ready');
      });
    });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
    await once(socket, 'data');
    socket.write('\r\n\r\n'.repeat(1000));
    expect(await received).toContain('\r\n\r\n'.repeat(100));
  });

  it('leave the connections of others alone when they follow a refused CONNECT', async () => {
    const targets: string[] = [];
    const socket = await open(({ url = '', headers }, response) => {
      targets.push(`${url} of ${String(headers.host)}`);
      response.end('done');
    });
    server.on('connect', (_, own: Socket) => upgraded.push(own.resume()));
    socket.write('CONNECT y:1 HTTP/1.1\r\nHost: y\r\n\r\n');
    while (upgraded.length === 0) await new Promise(setImmediate);
    const other = connect((server.address() as AddressInfo).port, '127.0.0.1');
    let text = '';
    other.on('data', (chunk: Buffer) => (text += chunk.toString()));
    other.write('GET /own HTTP/1.1\r\nHost: other\r\n');
    const [before] = upgraded;
    while ((await connections()) < 2) await new Promise(setImmediate);
    socket.write(`\r\nGET /foreign HTTP/1.1\r\nHost: y\r\n\r\n${REQUEST.repeat(300)}`);
    while ((before as Socket).bytesRead < 300 * REQUEST.length) await new Promise(setImmediate);
    other.write('\r\n');
    while (!text.includes('done')) await once(other, 'data');
    other.destroy();
    expect(targets).toEqual(['/own of other']);
  });
});

async function connections(): Promise<number> {
  return await new Promise((resolve) => {
    server.getConnections((_, count) => {
      resolve(count);
    });
  });
}
