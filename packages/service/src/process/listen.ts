/** Makes a server listen. */
import { once } from 'node:events';
import type { Server } from 'node:net';
import type { Log } from '@trestle/log';

/** Where a server listens, and where its later errors are logged. */
export interface ListenOptions {
  readonly port: number;
  readonly host: string;
  readonly log: Pick<Log, 'error'>;
}

/** Resolves when the server listens. Rejects if the port is taken. A later error, such as one connection that cannot be accepted, ends nothing. */
export async function listen(server: Server, { port, host, log }: ListenOptions): Promise<void> {
  server.listen(port, host);
  await once(server, 'listening');
  server.on('error', (error) => {
    log.error('a connection cannot be accepted', { port, error });
  });
}
