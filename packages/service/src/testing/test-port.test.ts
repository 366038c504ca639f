import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { reserveTestPort } from './test-port.ts';

const COUNT = 4;

/** Resolves with the first of some ports that nothing listens on, outside the ports of other tests. */
async function findFree(): Promise<number> {
  for (;;) {
    const first = randomInt(10_000, 19_000);
    const servers = Array.from({ length: COUNT }, (_, i) => createServer().listen(first + i, '127.0.0.1'));
    const areFree = await Promise.all(servers.map((server) => once(server, 'listening').then(isTrue, isFalse)));
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    if (areFree.every(Boolean)) return first;
  }
}
const isTrue = () => true;
const isFalse = () => false;

describe('reserveTestPort', () => {
  it('gives each port once, passes over those that a server listens on, and rejects when none is left', async () => {
    const first = await findFree();
    const few = { first, count: COUNT };
    const server = createServer().listen(first + 2, '127.0.0.1');
    await once(server, 'listening');
    const ports = await Promise.all([reserveTestPort(few), reserveTestPort(few), reserveTestPort(few)]);
    expect(ports.toSorted()).toEqual([first, first + 1, first + 3]);
    await expect(reserveTestPort(few)).rejects.toThrow(`All ports from ${String(first)} to ${String(first + 3)} are in use.`);
    await once(server.close(), 'close');
    expect(await reserveTestPort(few)).toBe(first + 2);
  });
});
