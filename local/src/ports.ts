/** Checks that ports are free before processes are started. */
import { createServer } from 'node:net';

/** Names a port and the setting that configures it. */
export interface WantedPort {
  readonly setting: string;
  readonly port: number;
}

/** `localhost` may resolve to either; another program on one of them would receive some of the requests. */
const LOOPBACKS = ['127.0.0.1', '::1'];

/** Returns one line for each port that is in use or assigned to two settings, and an empty list when every port can be used. */
export async function findPortFaults(wanted: readonly WantedPort[]): Promise<string[]> {
  const faults = await Promise.all(
    wanted.map(async ({ setting, port }, index) => {
      const rival = wanted.slice(0, index).find((other) => other.port === port);
      if (rival) return `Port ${String(port)} is assigned to two settings. Set ${rival.setting} or ${setting} to another port.`;
      const free = await Promise.all(LOOPBACKS.map((host) => isFree(port, host)));
      return free.every(Boolean) ? undefined : `Port ${String(port)} is already in use. Free it, or set ${setting} to another port.`;
    }),
  );
  return faults.filter((fault) => fault !== undefined);
}

/** Returns whether a server can listen at the port of an address. */
export function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    // On a machine without IPv6 no other program can use the port.
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
