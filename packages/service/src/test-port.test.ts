import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { reserveTestPort } from './test-port.ts';

/** Outside the ports of other tests. */
const FEW = { first: 19_000, count: 4 };

describe('reserveTestPort', () => {
  it('gives each port once, passes over those that a server listens on, and rejects when none is left', async () => {
    const server = createServer().listen(19_002, '127.0.0.1');
    await once(server, 'listening');
    const ports = await Promise.all([reserveTestPort(FEW), reserveTestPort(FEW), reserveTestPort(FEW)]);
    expect(ports.toSorted()).toEqual([19_000, 19_001, 19_003]);
    await expect(reserveTestPort(FEW)).rejects.toThrow('All ports from 19000 to 19003 are in use.');
    await once(server.close(), 'close');
    expect(await reserveTestPort(FEW)).toBe(19_002);
  });
});
