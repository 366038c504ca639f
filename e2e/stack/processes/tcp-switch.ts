/** An address that leads to one TCP port of this machine, and later to another. */
import { once } from 'node:events';
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';
import { pipeline } from 'node:stream';

export interface TcpSwitch {
  readonly port: number;
  /** Closes the open connections and leads new ones to this port. */
  leadTo(port: number): void;
  stop(): Promise<void>;
}

/** Starts it on a free port. A connection is closed when the other side refuses or ends it. */
export async function startTcpSwitch(firstTarget: number): Promise<TcpSwitch> {
  let target = firstTarget;
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    clients.add(client);
    client.once('close', () => clients.delete(client));
    const upstream = connect(target, '127.0.0.1');
    pipeline(client, upstream, client, () => {
      client.destroy();
      upstream.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    for (const client of clients) client.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port) {
      target = port;
      cut();
    },
    async stop() {
      cut();
      await once(server.close(), 'close');
    },
  };
}
