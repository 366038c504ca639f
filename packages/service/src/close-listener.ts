/** Closes a listening server without resetting connections that the kernel has established and the process has not accepted yet. */
import type { Server } from 'node:http';
import { type AddressInfo, type Socket, connect } from 'node:net';

/** What Node has of a listening socket and of a connecting one; `listen` and `getpeername` are the system calls of these names. */
interface Handle {
  listen?(backlog: number): number;
  getpeername?(out: object): number;
}

const BACKLOG = 511;
const MAX_ATTEMPTS = 50;

/**
 * Stops listening; connections that are open go on. `close(2)` resets what waits in the queue of the listening socket, with requests that
 * a proxy may have sent already. So the queue is shortened to one place and that is taken by a connection of our own: then nobody else
 * waits, and the kernel lets nobody else in (clients send their SYN again, and are refused). Without the means for that, it just closes.
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
    // Somebody else is in the queue, and is accepted now.
    listener.listen(BACKLOG);
    own.destroy();
    await new Promise((resolve) => setImmediate(resolve));
  }
  server.close();
}

/** Whether the kernel has completed the handshake, which it does within `connect(2)` on the loopback interface. */
function isEstablished(socket: Socket): boolean {
  const { _handle: handle } = socket as { _handle?: Handle | null };
  return handle?.getpeername?.({}) === 0;
}

/** A socket that listens on all addresses is reached by the loopback one. */
function toReachable({ address, family }: AddressInfo): string {
  if (address === '0.0.0.0') return '127.0.0.1';
  return address === '::' && family === 'IPv6' ? '::1' : address;
}
