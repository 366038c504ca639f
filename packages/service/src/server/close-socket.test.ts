/** The sockets are those of `ws`, connected to each other. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { WebSocket, WebSocketServer } from 'ws';
import { closeSocket, cutToBytes } from './close-socket.ts';

let server: WebSocketServer;
beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});

const connect = async () => {
  const client = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [[WebSocket], unknown];
  const closed = once(client, 'close').then(([code, reason]) => ({ code: code as number, reason: (reason as Buffer).toString() }));
  return { peer, closed };
};

describe('closeSocket', () => {
  // RFC 6455 §5.5: "All control frames MUST have a payload length of 125 bytes or less."
  it('cuts a reason of 99 characters that take 297 bytes', async () => {
    const { peer, closed } = await connect();
    closeSocket(peer, 4409, '漢'.repeat(99));
    expect(await closed).toEqual({ code: 4409, reason: '漢'.repeat(41) });
  });

  it('terminates the connection when the code may not be sent', async () => {
    const { peer, closed } = await connect();
    closeSocket(peer, 1006, 'not sendable');
    expect((await closed).code).toBe(1006);
  });

  it('does nothing to a socket that is closed', async () => {
    const { peer, closed } = await connect();
    peer.terminate();
    await closed;
    closeSocket(peer, 1000, '');
    expect(peer.readyState).toBe(WebSocket.CLOSED);
  });
});

describe('cutToBytes', () => {
  it('returns a beginning of the text that fits and could not be one character longer', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(200), (text, limit) => {
        const cut = cutToBytes(text, limit);
        expect(text.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
        const [next = ''] = text.slice(cut.length);
        if (next) expect(Buffer.byteLength(cut + next)).toBeGreaterThan(limit);
      }),
    );
  });
});
