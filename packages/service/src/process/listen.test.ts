import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { listen } from './listen.ts';

const HOST = '127.0.0.1';

describe('listen', () => {
  it('rejects if the port is taken, and logs every later error of the server', async () => {
    const errors: unknown[] = [];
    const log = { error: (_: string, fields: { error?: unknown } = {}) => errors.push(fields.error) };
    const [server, second] = [createServer(), createServer()];
    await listen(server, { port: 0, host: HOST, log });
    try {
      const { port } = server.address() as AddressInfo;
      await expect(listen(second, { port, host: HOST, log })).rejects.toThrow('EADDRINUSE');
      const faults = [new Error('accept ENOBUFS'), new Error('accept EPROTO')];
      for (const fault of faults) server.emit('error', fault);
      expect(errors).toEqual(faults);
      const client = connect(port, HOST);
      await once(client, 'connect');
      client.destroy();
    } finally {
      server.close();
    }
  });
});
