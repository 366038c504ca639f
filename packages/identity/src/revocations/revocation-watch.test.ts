/** Tests against real WebSocket servers that send revocations, close, break and accept connections again. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { Registry } from 'prom-client';
import { type WebSocket, WebSocketServer } from 'ws';
import { watchRevocations } from './revocation-watch.ts';
import type { Revocation } from './revocations.ts';

const log = createLog({ service: 'test', level: 'silent' });
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Starts a WebSocket server that hands every connection to the test, or with `isReady: false` answers 503. */
async function startServer({ isReady = true } = {}) {
  const connections: WebSocket[] = [];
  let onConnection: () => void = () => undefined;
  const http = createServer();
  const server = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    if (isReady) {
      server.handleUpgrade(request, socket, head, (connection) => {
        connections.push(connection);
        onConnection();
      });
    } else socket.end('HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  closing.push(() => {
    for (const connection of connections) connection.terminate();
    return new Promise((resolve) => http.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${String((http.address() as AddressInfo).port)}/revocations`,
    /** Resolves with the connection of this number, from 0, once it is open. */
    async connection(number: number): Promise<WebSocket> {
      while (connections.length <= number) await new Promise<void>((resolve) => (onConnection = resolve));
      return connections[number] as WebSocket;
    },
  };
}

const send = (connection: WebSocket, number: number, ...revoked: object[]) => {
  connection.send(JSON.stringify({ number, revoked }));
};

const breakOff = (connection: WebSocket) => {
  connection.terminate();
};
const sendNonsense = (connection: WebSocket) => {
  connection.send('nonsense');
};

function watch(url: string) {
  const warnings: string[] = [];
  const added: Revocation[] = [];
  let onAdded: () => void = () => undefined;
  const metrics = new Registry();
  const revocations = {
    add: (revocation: Revocation) => {
      added.push(revocation);
      onAdded();
    },
  };
  const { settled, stop } = watchRevocations({ url, revocations, log: { ...log, warn: (message) => warnings.push(message) }, metrics });
  closing.push(stop);
  return {
    settled,
    stop,
    warnings,
    async added(count: number): Promise<Revocation[]> {
      while (added.length < count) await new Promise<void>((resolve) => (onAdded = resolve));
      return added;
    },
    isCurrent: async () => (await metrics.getSingleMetricAsString('trestle_revocations_current')).includes('trestle_revocations_current 1'),
  };
}

describe('watchRevocations', () => {
  it('settles with the first message, adds every revocation, and acknowledges each message', async () => {
    const server = await startServer();
    const watching = watch(server.url);
    const connection = await server.connection(0);
    const acknowledged: string[] = [];
    connection.on('message', (data: Buffer) => acknowledged.push(data.toString()));
    send(connection, 7, { userId: 'usr_1', tokenId: 't1' }, { userId: 'usr_2', generation: 2 });
    await watching.settled;
    expect(await watching.added(2)).toEqual([
      { userId: 'usr_1', tokenId: 't1' },
      { userId: 'usr_2', generation: 2 },
    ]);
    expect(await watching.isCurrent()).toBe(true);
    send(connection, 8, { userId: 'usr_3', sessionId: 'ses_1' });
    expect((await watching.added(3))[2]).toEqual({ userId: 'usr_3', sessionId: 'ses_1' });
    while (acknowledged.length < 2) await once(connection, 'message');
    expect(acknowledged).toEqual(['7', '8']);
  });

  it.each([
    [
      'the server closes the connection',
      (connection: WebSocket) => {
        connection.close();
      },
    ],
    ['the connection breaks', breakOff],
    ['a message is not JSON', sendNonsense],
    [
      'a message contains an invalid revocation',
      (connection: WebSocket) => {
        send(connection, 2, { userId: 'usr_1' });
      },
    ],
  ])('reconnects when %s, and sets trestle_revocations_current to 0 until it has received the list again', async (_, disrupt) => {
    const server = await startServer();
    const watching = watch(server.url);
    const first = await server.connection(0);
    send(first, 1);
    await watching.settled;
    disrupt(first);
    const second = await server.connection(1);
    expect(await watching.isCurrent()).toBe(false);
    send(second, 1, { userId: 'usr_1', tokenId: 't1' });
    await watching.added(1);
    while (!(await watching.isCurrent())) await new Promise((resolve) => setImmediate(resolve));
  });

  it.each([
    ['warns of nothing when the connection is made again within 2 s', [], breakOff],
    ['warns of an invalid message at once', ['token revocations cannot be received'], sendNonsense],
  ])('%s', async (_, warnings, disrupt) => {
    const server = await startServer();
    const watching = watch(server.url);
    const first = await server.connection(0);
    send(first, 1);
    await watching.settled;
    disrupt(first);
    const second = await server.connection(1);
    send(second, 1, { userId: 'usr_1', tokenId: 't1' });
    await watching.added(1);
    expect(watching.warnings).toEqual(warnings);
  });

  it.each([
    ['the connection is refused', () => Promise.resolve('http://127.0.0.1:9/revocations')],
    ['the server answers 503', async () => (await startServer({ isReady: false })).url],
  ])('settles without revocations when %s', async (_, toUrl) => {
    const watching = watch(await toUrl());
    await watching.settled;
    expect(await watching.isCurrent()).toBe(false);
  });

  it('closes its connection and settles when it is stopped', async () => {
    const server = await startServer();
    const watching = watch(server.url);
    const closed = once(await server.connection(0), 'close');
    watching.stop();
    await closed;
    await watching.settled;
  });
});
