/** On a real server, with real WebSockets that acknowledge, wait or disconnect. */
import { type Server, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Revocations, createRevocations } from '@trestle/identity/revocations/revocations';
import { type ClientOptions, WebSocket } from 'ws';
import { RevocationPublisher } from './publisher.ts';

let server: Server;
let revocations: Revocations;
let publisher: RevocationPublisher;
const upgradeTo = (target: RevocationPublisher) => target.upgrade.bind(target);

beforeEach(async () => {
  revocations = createRevocations();
  publisher = new RevocationPublisher({ revocations });
  server = createServer().on('upgrade', upgradeTo(publisher)).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  publisher.stop();
  await new Promise((resolve) => server.close(resolve));
});

/** Connects a process that acknowledges when `acknowledge` is called. */
async function connect(options: ClientOptions = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/revocations`, options);
  const received: { number: number; revoked: object[] }[] = [];
  let wake: () => void = () => undefined;
  socket.on('message', (data: Buffer) => {
    received.push(JSON.parse(data.toString()) as (typeof received)[number]);
    wake();
  });
  await once(socket, 'open');
  return {
    socket,
    async received(count: number) {
      while (received.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return received;
    },
    acknowledge: () => {
      socket.send(String(received.at(-1)?.number));
    },
  };
}

const one = { userId: 'usr_1', tokenId: 't1' };
const two = { userId: 'usr_2', generation: 3 };

describe('a RevocationPublisher', () => {
  it('answers 503 before it is open', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/revocations`);
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('503');
  });

  it('sends all revocations and then each new one, and resolves when it is acknowledged', async () => {
    publisher.open();
    revocations.add(one);
    const subscriber = await connect();
    expect(await subscriber.received(1)).toEqual([{ number: 1, revoked: [one] }]);
    subscriber.acknowledge();
    let isPublished = false;
    const revoking = publisher.revoke(two).then(() => (isPublished = true));
    expect((await subscriber.received(2))[1]).toEqual({ number: 2, revoked: [two] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isPublished).toBe(false);
    subscriber.acknowledge();
    await revoking;
    subscriber.socket.terminate();
  });

  it('does not wait without connections, nor for one that is lost', async () => {
    publisher.open();
    await publisher.revoke(one);
    const subscriber = await connect();
    await subscriber.received(1);
    const revoking = publisher.revoke(two);
    await subscriber.received(2);
    subscriber.socket.terminate();
    await revoking;
  });

  it('sends 50,000 revocations in one message', async () => {
    publisher.open();
    const many = Array.from({ length: 50_000 }, (_, i) => ({ userId: `usr_${String(i).padStart(26, '0')}`, generation: 1 }));
    for (const each of many) revocations.add(each);
    const subscriber = await connect();
    expect((await subscriber.received(1))[0]?.revoked).toEqual(many);
    subscriber.socket.terminate();
  });

  it('terminates a connection that does not answer pings', async () => {
    const impatient = new RevocationPublisher({ revocations, pingIntervalMs: 50 });
    server.removeAllListeners('upgrade').on('upgrade', upgradeTo(impatient));
    impatient.open();
    const { socket } = await connect({ autoPong: false });
    await once(socket, 'close');
    impatient.stop();
  });

  it('waits for an acknowledgement, but not without end', async () => {
    const impatient = new RevocationPublisher({ revocations, acknowledgeMs: 50 });
    server.removeAllListeners('upgrade').on('upgrade', upgradeTo(impatient));
    impatient.open();
    const subscriber = await connect();
    await subscriber.received(1);
    const began = performance.now();
    await impatient.revoke(one);
    // A timer may end up to a millisecond early.
    expect(performance.now() - began).toBeGreaterThan(48);
    subscriber.socket.terminate();
    impatient.stop();
  });
});
