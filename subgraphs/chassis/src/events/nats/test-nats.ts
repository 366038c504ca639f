/** A NATS server with JetStream for tests: one of their own when `nats-server` is installed, else one that is running. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '@nats-io/transport-node';
import { reserveTestPort } from '@trestle/service/testing/test-port';

/** A server that tests may kill. */
export interface TestNats {
  readonly url: string;
  /** Ends it at once, as a crash does. */
  readonly kill: () => Promise<void>;
  /** Starts it again where it was, with what it has stored. */
  readonly start: () => Promise<void>;
  /** Removes what it has stored; call it between `kill` and `start`. */
  readonly lose: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const FOLDERS = ['/usr/local/bin', '/usr/bin', '/usr/sbin'];
const PROGRAM = FOLDERS.map((folder) => join(folder, 'nats-server')).find((path) => existsSync(path));

/** Starts a server with an empty store. Resolves with undefined, and writes a warning, when `nats-server` is not installed. */
export async function startTestNats(): Promise<TestNats | undefined> {
  if (PROGRAM === undefined) {
    process.stderr.write('\n*** nats-server is not installed: the tests of NATS JetStream are LEFT OUT on this machine. ***\n\n');
    return undefined;
  }
  const program = PROGRAM;
  const home = await mkdtemp(join(tmpdir(), 'trestle-nats-'));
  const port = await reserveTestPort();
  const url = `nats://127.0.0.1:${String(port)}`;
  let child: ChildProcess | undefined;
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    if (!child) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    child = undefined;
    await ended;
  };
  const start = async () => {
    child = spawn(program, ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', home], { stdio: 'ignore' });
    await untilReachable(url);
  };
  await start();
  return {
    url,
    kill: () => end('SIGKILL'),
    start,
    lose: () => rm(home, { recursive: true, force: true }),
    async stop() {
      await end('SIGTERM');
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function untilReachable(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      const nats = await connect({ servers: url, timeout: 1000, reconnect: false });
      await nats.close();
      return;
    } catch (error) {
      if (tries > 200) throw error;
      await delay(50);
    }
  }
}
