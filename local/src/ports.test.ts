import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { findPortFaults } from './ports.ts';

describe('findPortFaults', () => {
  it('reports every port that is in use or assigned twice, and the setting to change', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port: taken } = other.address() as AddressInfo;
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
    const { port } = free.address() as AddressInfo;
    await new Promise((resolve) => free.close(resolve));
    try {
      const wanted = [
        { setting: 'REST_PORT', port: taken },
        { setting: 'USERS_PORT', port },
      ];
      expect(await findPortFaults([...wanted, { setting: 'ORDERS_PORT', port }])).toEqual([
        `Port ${String(taken)} is already in use. Free it, or set REST_PORT to another port.`,
        `Port ${String(port)} is assigned to two settings. Set USERS_PORT or ORDERS_PORT to another port.`,
      ]);
      expect(await findPortFaults(wanted.slice(1))).toEqual([]);
    } finally {
      other.close();
    }
  });
});
