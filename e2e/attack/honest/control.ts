/**
 * The control: a chain of three bare servers, which no attack is sent to. What its latency grows by during an attack is the share of the machine:
 * attacker, victims, database and honest client compete for the same cores. The rest is what the system lets an attacker do to others.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** As many processes as a request to the bridge passes. */
const HOPS = 3;

export interface Control {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts the servers; the last one first, because each has to know the next. */
export async function startControl(): Promise<Control> {
  const children: ChildProcess[] = [];
  let port: number | undefined;
  for (let hop = 0; hop < HOPS; hop++) {
    const child = fork(fileURLToPath(new URL('relay.js', import.meta.url)), port === undefined ? [] : [String(port)]);
    children.push(child);
    [port] = (await once(child, 'message')) as [number];
  }
  return {
    port: port ?? 0,
    async stop() {
      await Promise.all(
        children.map(async (child) => {
          const ended = once(child, 'exit');
          child.disconnect();
          await ended;
        }),
      );
    },
  };
}
