/** With a real server. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { WebSocket, WebSocketServer } from 'ws';
import { FrameLimit } from './frame-limit.ts';
import { limitMessages } from './limit-messages.ts';

const MAX = 100_000;
let server: WebSocketServer;
let client: WebSocket;
let peer: WebSocket;
/** What the client got: the number of bytes of a message that is whole, `cut` for one that is not. */
let received: (number | 'cut' | 'pong')[];

beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  const connected = once(server, 'connection') as Promise<[WebSocket]>;
  client = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`, { maxPayload: MAX, skipUTF8Validation: true });
  received = [];
  client.on('open', () => {
    const limit = limitMessages(client, MAX);
    client.on('message', (data: Buffer) => received.push(limit.takeIsCut() ? 'cut' : data.length));
  });
  client.on('pong', () => received.push('pong'));
  [[peer]] = await Promise.all([connected, once(client, 'open')]);
});
afterEach(async () => {
  client.terminate();
  await new Promise((resolve) => {
    server.close(resolve);
  });
});

/** Resolves when everything has arrived that was sent before. */
async function settle(): Promise<void> {
  peer.send('end');
  await new Promise<void>((resolve) => {
    const look = (data: Buffer) => {
      if (data.toString() !== 'end') return;
      client.off('message', look);
      received.pop();
      resolve();
    };
    client.on('message', look);
  });
}

describe('limitMessages', () => {
  it('passes messages up to the limit, in every form of length', async () => {
    for (const length of [0, 1, 125, 126, 65_535, 65_536, MAX]) peer.send('x'.repeat(length));
    await settle();
    expect(received).toEqual([0, 1, 125, 126, 65_535, 65_536, MAX]);
  });

  it('cuts a message beyond the limit, and keeps the connection', async () => {
    peer.send('a');
    peer.send('ü€'.repeat(MAX));
    peer.send('bb');
    await settle();
    expect([received, client.readyState]).toEqual([[1, 'cut', 2], WebSocket.OPEN]);
  });

  it('cuts a message whose frames exceed the limit together, whatever stands between them', async () => {
    for (const isFinal of [false, false, false, true]) {
      peer.send('x'.repeat(MAX / 2), { fin: isFinal });
      client.ping();
      await once(peer, 'ping');
    }
    peer.send('x'.repeat(MAX / 2), { fin: false });
    peer.send('x'.repeat(MAX / 2), { fin: true });
    await settle();
    expect(received.filter((each) => each !== 'pong')).toEqual(['cut', MAX]);
    expect(received.filter((each) => each === 'pong').length).toBeGreaterThan(0);
  });

  it('leaves it to `ws` to close the connection for a frame that no server may send', async () => {
    const closed = once(client, 'error');
    // A masked frame (RFC 6455 §5.1), which the server writes past `ws`.
    (peer as unknown as { readonly _socket: NodeJS.WritableStream })._socket.write(Buffer.of(0x81, 0x81, 0, 0, 0, 0, 0x61));
    await expect(closed).resolves.toMatchObject([{ code: 'WS_ERR_UNEXPECTED_MASK' }]);
  });
});

describe('FrameLimit', () => {
  it('gives the same for bytes that arrive one by one', () => {
    const frames = [
      Buffer.concat([Buffer.of(0x81, 3), Buffer.from('abc')]),
      Buffer.concat([Buffer.of(0x81, 126, 0, 200), Buffer.alloc(200, 'x')]),
      Buffer.concat([Buffer.of(0x01, 60), Buffer.alloc(60, 'y')]),
      Buffer.concat([Buffer.of(0x80, 60), Buffer.alloc(60, 'z')]),
      Buffer.concat([Buffer.of(0x89, 1), Buffer.from('p')]),
      Buffer.concat([Buffer.of(0x81, 1), Buffer.from('d')]),
    ];
    const all = Buffer.concat(frames);
    const [whole, single] = [new FrameLimit(100), new FrameLimit(100)];
    const passed = Buffer.concat(whole.pass(all));
    expect(Buffer.concat([...all].flatMap((byte) => single.pass(Buffer.of(byte))))).toEqual(passed);
    for (const limit of [whole, single]) expect([1, 2, 3, 4].map(() => limit.takeIsCut())).toEqual([false, true, true, false]);
    expect(passed.subarray(-8).toString('latin1')).toBe('\x80\0\x89\x01p\x81\x01d');
  });
});
