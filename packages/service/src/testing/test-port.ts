/** Ports for servers of tests whose address is needed before they listen, or that are started again where they were. */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { type Server, createServer } from 'node:net';

/**
 * Below the ports that Linux gives to outgoing connections and to servers that ask for any port (`ip_local_port_range`, 32768 to 60999 by default):
 * one of those could be given away before its server listens.
 */
const TEST_PORTS = { first: 20_000, count: 12_000 };

/** Resolves with a port of the loopback interface that nothing listens on, and that no other call in any process gets while this process lives. */
export async function reserveTestPort({ first, count } = TEST_PORTS): Promise<number> {
  const start = randomInt(count);
  for (let tried = 0; tried < count; tried++) {
    const port = first + ((start + tried) % count);
    // A name of Linux's abstract namespace belongs to one process, and is free again when the process ends, in whatever way.
    const reservation = await listen(`\0trestle-test-port-${String(port)}`);
    if (!reservation) continue;
    const server = await listen({ port, host: '127.0.0.1' });
    if (server) {
      await once(server.close(), 'close');
      reservation.unref();
      return port;
    }
    reservation.close();
  }
  throw new Error(`All ports from ${String(first)} to ${String(first + count - 1)} are in use.`);
}

/** Resolves with undefined when another server listens there. */
function listen(address: string | { readonly port: number; readonly host: string }): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(typeof address === 'string' ? { path: address } : address, () => {
      resolve(server);
    });
  });
}
