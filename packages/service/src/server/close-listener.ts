/** Closes a listening server without resetting connections that the kernel has established and the process has not accepted yet. */
import type { Server } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';

/** The internal handle of a listening or connecting socket in Node. `listen` and `getpeername` are the system calls of these names. */
interface Handle {
  listen?(backlog: number): number;
  getpeername?(out: object): number;
}

const BACKLOG = 511;
const MAX_ATTEMPTS = 50;

/**
 * Stops listening; open connections go on. `close(2)` resets the connections in the queue of the listening socket, on which a proxy may
 * already have sent requests. So the queue is shortened to one place, which a connection of this function takes: then no other connection
 * is in it, and the kernel accepts no other (clients send their SYN again, and are refused). Just closes when Node offers no such handle.
 */
export async function closeListener(server: Server): Promise<void> {
  const { _handle: listener } = server as { _handle?: Handle | null };
  const address = server.address() as AddressInfo | null;
  for (let attempt = 0; attempt < MAX_ATTEMPTS && listener?.listen && address; attempt++) {
    listener.listen(0);
    const own = connect({ port: address.port, host: toReachable(address) });
    own.on('error', () => undefined);
    // Node connects in the next tick, which is before it returns to its event loop: until then the process accepts no connection.
    await new Promise<void>((resolve) => {
      process.nextTick(resolve);
    });
    if (isEstablished(own)) {
      server.close();
      own.destroy();
      return;
    }
    // Another connection has the place in the queue, and is accepted now.
    listener.listen(BACKLOG);
    own.destroy();
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.close();
}

/** Returns whether the kernel has completed the handshake, which it does within `connect(2)` on the loopback interface. */
function isEstablished(socket: Socket): boolean {
  const { _handle: handle } = socket as { _handle?: Handle | null };
  return handle?.getpeername?.({}) === 0;
}

/** Returns the address to connect to: the loopback address for a socket that listens on all addresses. */
function toReachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' && family === 'IPv6' ? '::1' : address;
}
