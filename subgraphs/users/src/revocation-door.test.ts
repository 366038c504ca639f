/** On a real server, with real WebSockets that answer, hold back or go. */
import { type Server, createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type Revocations, createRevocations } from '@trestle/identity/revocations';
import { type ClientOptions, WebSocket } from 'ws';
import { type RevocationDoor, createRevocationDoor } from './revocation-door.ts';

let server: Server;
let revocations: Revocations;
let door: RevocationDoor;
beforeEach(async () => {
  revocations = createRevocations();
  door = createRevocationDoor(revocations);
  server = createServer().on('upgrade', door.upgrade).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  door.stop();
  await new Promise((resolve) => server.close(resolve));
});

/** Somebody who listens, and answers when told to. */
async function join(options: ClientOptions = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/revocations`, options);
  const told: { number: number; revoked: object[] }[] = [];
  let wake: () => void = () => undefined;
  socket.on('message', (data: Buffer) => {
    told.push(JSON.parse(data.toString()) as (typeof told)[number]);
    wake();
  });
  await once(socket, 'open');
  return {
    socket,
    async told(count: number) {
      while (told.length < count) await new Promise<void>((resolve) => (wake = resolve));
      return told;
    },
    answer: () => {
      socket.send(String(told.at(-1)?.number));
    },
  };
}

const one = { userId: 'usr_1', tokenId: 't1' };
const two = { userId: 'usr_2', generation: 3 };

describe('the door of revocations', () => {
  it('lets nobody in before all are known', async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}/revocations`);
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('503');
  });

  it('tells whoever comes all so far, then each as it is added, and lets an answer wait until it was taken up', async () => {
    door.open();
    revocations.add(one);
    const watcher = await join();
    expect(await watcher.told(1)).toEqual([{ number: 1, revoked: [one] }]);
    watcher.answer();
    let isTold = false;
    const revoking = door.revoke(two).then(() => (isTold = true));
    expect((await watcher.told(2))[1]).toEqual({ number: 2, revoked: [two] });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isTold).toBe(false);
    watcher.answer();
    await revoking;
    watcher.socket.terminate();
  });

  it('waits for nobody when nobody listens, and not for one who goes', async () => {
    door.open();
    await door.revoke(one);
    const watcher = await join();
    await watcher.told(1);
    const revoking = door.revoke(two);
    await watcher.told(2);
    watcher.socket.terminate();
    await revoking;
  });

  it('tells many at once, also what is more than a connection takes', async () => {
    door.open();
    const many = Array.from({ length: 50_000 }, (_, i) => ({ userId: `usr_${String(i).padStart(26, '0')}`, generation: 1 }));
    for (const each of many) revocations.add(each);
    const watcher = await join();
    expect((await watcher.told(1))[0]?.revoked).toEqual(many);
    watcher.socket.terminate();
  });

  it('lets go of one who gives no sign of life', async () => {
    const impatient = createRevocationDoor(revocations, { pingIntervalMs: 50 });
    server.off('upgrade', door.upgrade).on('upgrade', impatient.upgrade);
    impatient.open();
    const { socket } = await join({ autoPong: false });
    await once(socket, 'close');
    impatient.stop();
  });

  it('waits a second and no longer for one who is silent', async () => {
    door.open();
    const watcher = await join();
    await watcher.told(1);
    const began = performance.now();
    await door.revoke(one);
    expect(performance.now() - began).toBeGreaterThan(900);
    watcher.socket.terminate();
  });
});
