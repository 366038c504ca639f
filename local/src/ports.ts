/** Finds out, before anything is started, which ports are not to be had. */
import { createServer } from 'node:net';

export interface WantedPort {
  readonly setting: string;
  readonly port: number;
}

/** `localhost` may mean either; a stranger on one of them would get some of our callers. */
const LOOPBACKS = ['127.0.0.1', '::1'];

/** Says what is wrong with the ports, one line for each; an empty list when all are free and each is wanted once. */
export async function findPortFaults(wanted: readonly WantedPort[]): Promise<string[]> {
  const faults = await Promise.all(
    wanted.map(async ({ setting, port }, index) => {
      const rival = wanted.slice(0, index).find((other) => other.port === port);
      if (rival) return `Port ${String(port)} is wanted twice: set ${rival.setting} or ${setting} to another one`;
      const free = await Promise.all(LOOPBACKS.map((host) => isFree(port, host)));
      return free.every(Boolean) ? undefined : `Port ${String(port)} is taken: free it, or set ${setting} to another one`;
    }),
  );
  return faults.filter((fault) => fault !== undefined);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // A machine without IPv6 has nobody there.
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT');
    });
    server.listen({ port, host, ipv6Only: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}
