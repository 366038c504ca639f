/** Against real WebSocket servers that tell, fall silent, end, and come again. */
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

/** A server that hands every connection to the test. */
async function startTeller({ isReady = true } = {}) {
  const connections: WebSocket[] = [];
  let arrived: () => void = () => undefined;
  const http = createServer();
  const server = new WebSocketServer({ noServer: true });
  http.on('upgrade', (request, socket, head) => {
    if (isReady) {
      server.handleUpgrade(request, socket, head, (connection) => {
        connections.push(connection);
        arrived();
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
    /** The connection of this number, from 0, as soon as it is there. */
    async connection(number: number): Promise<WebSocket> {
      while (connections.length <= number) await new Promise<void>((resolve) => (arrived = resolve));
      return connections[number] as WebSocket;
    },
  };
}

const tell = (connection: WebSocket, number: number, ...revoked: object[]) => {
  connection.send(JSON.stringify({ number, revoked }));
};

function watch(url: string) {
  const added: Revocation[] = [];
  let onAdded: () => void = () => undefined;
  const metrics = new Registry();
  const revocations = {
    add: (revocation: Revocation) => {
      added.push(revocation);
      onAdded();
    },
  };
  const { settled, stop } = watchRevocations({ url, revocations, log, metrics });
  closing.push(stop);
  return {
    settled,
    stop,
    async added(count: number): Promise<Revocation[]> {
      while (added.length < count) await new Promise<void>((resolve) => (onAdded = resolve));
      return added;
    },
    isCurrent: async () => (await metrics.getSingleMetricAsString('trestle_revocations_current')).includes('trestle_revocations_current 1'),
  };
}

describe('a watch over revocations', () => {
  it('is settled when it was told all so far, goes on to learn, and says what it has taken up', async () => {
    const teller = await startTeller();
    const watching = watch(teller.url);
    const connection = await teller.connection(0);
    const said: string[] = [];
    connection.on('message', (data: Buffer) => said.push(data.toString()));
    tell(connection, 7, { userId: 'usr_1', tokenId: 't1' }, { userId: 'usr_2', generation: 2 });
    await watching.settled;
    expect(await watching.added(2)).toEqual([
      { userId: 'usr_1', tokenId: 't1' },
      { userId: 'usr_2', generation: 2 },
    ]);
    expect(await watching.isCurrent()).toBe(true);
    tell(connection, 8, { userId: 'usr_3', generation: 1 });
    expect((await watching.added(3))[2]).toEqual({ userId: 'usr_3', generation: 1 });
    while (said.length < 2) await once(connection, 'message');
    expect(said).toEqual(['7', '8']);
  });

  it.each([
    [
      'ends',
      (connection: WebSocket) => {
        connection.close();
      },
    ],
    [
      'breaks',
      (connection: WebSocket) => {
        connection.terminate();
      },
    ],
    [
      'tells nonsense',
      (connection: WebSocket) => {
        connection.send('nonsense');
      },
    ],
    [
      'tells of no revocation',
      (connection: WebSocket) => {
        tell(connection, 2, { userId: 'usr_1' });
      },
    ],
  ])('asks again when the connection %s, and knows of itself that it was behind', async (_, spoil) => {
    const teller = await startTeller();
    const watching = watch(teller.url);
    const first = await teller.connection(0);
    tell(first, 1);
    await watching.settled;
    spoil(first);
    const second = await teller.connection(1);
    expect(await watching.isCurrent()).toBe(false);
    tell(second, 1, { userId: 'usr_1', tokenId: 't1' });
    await watching.added(1);
    while (!(await watching.isCurrent())) await new Promise((resolve) => setImmediate(resolve));
  });

  it.each([
    ['nobody is there', () => Promise.resolve('http://127.0.0.1:9/revocations')],
    ['whoever is there knows of none yet', async () => (await startTeller({ isReady: false })).url],
  ])('is settled without any after a while when %s', async (_, where) => {
    const watching = watch(await where());
    await watching.settled;
    expect(await watching.isCurrent()).toBe(false);
  });

  it('lets go of its connection when it is stopped', async () => {
    const teller = await startTeller();
    const watching = watch(teller.url);
    const gone = once(await teller.connection(0), 'close');
    watching.stop();
    await gone;
    await watching.settled;
  });
});
