/** A real Redis server for tests, behind a connection that a test can cut or hold: a process of its own, else the one on the standard port. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Server, type Socket, connect, createServer } from 'node:net';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { Redis } from 'ioredis';

const STANDARD_PORT = 6379;
const START_MS = 10_000;

/** A Redis server and the connection to it. */
export interface TestRedis {
  /** Its address, through the connection that can be cut. */
  readonly url: string;
  /** Its own address, which always works while it runs. */
  readonly directUrl: string;
  /** Ends the server, when it is a process of its own, and cuts all connections. */
  kill(): Promise<void>;
  /** Starts the server again at the same address. It has forgotten everything when it is a process of its own. */
  revive(): Promise<void>;
  /** Holds back everything that is sent from now on, in both directions, until {@link release} is called. */
  hold(): void;
  release(): void;
  /** Ends the server and the connection. */
  stop(): Promise<void>;
}

/** Returns undefined, after a loud message, where there is neither the program `redis-server` nor a server on the standard port. */
export async function startTestRedis(): Promise<TestRedis | undefined> {
  const own = await startServer(await reserveTestPort());
  if (!own && !(await answers(STANDARD_PORT))) {
    process.stderr.write(
      '\n*** NO REDIS: `redis-server` is not installed and nothing answers on port 6379. ITS TESTS ARE SKIPPED. ***\n\n',
    );
    return undefined;
  }
  return createTestRedis(own);
}

interface OwnServer {
  readonly port: number;
  readonly child: ChildProcess;
}

async function createTestRedis(first: OwnServer | undefined): Promise<TestRedis> {
  let own = first;
  const port = own?.port ?? STANDARD_PORT;
  const front = createFront(port);
  const frontPort = await reserveTestPort();
  await front.listen(frontPort);
  const end = async () => {
    front.cut();
    if (own?.child.exitCode === null && own.child.kill('SIGKILL')) await once(own.child, 'exit');
  };
  return {
    url: `redis://127.0.0.1:${String(frontPort)}`,
    directUrl: `redis://127.0.0.1:${String(port)}`,
    async kill() {
      await end();
      await front.close();
    },
    async revive() {
      if (own) own = await startServer(port);
      await front.listen(frontPort);
    },
    hold() {
      front.hold();
    },
    release() {
      front.release();
    },
    async stop() {
      await end();
      await front.close();
    },
  };
}

/** Starts a server that stores nothing on disk. Resolves with undefined when the program is not installed. */
async function startServer(port: number): Promise<OwnServer | undefined> {
  const child = spawn('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
    stdio: 'ignore',
  });
  const failed = once(child, 'error').then(
    () => true,
    () => true,
  );
  const deadline = Date.now() + START_MS;
  while (Date.now() < deadline) {
    const isUp = await Promise.race([failed.then(() => undefined), answers(port)]);
    if (isUp === undefined) return undefined;
    if (isUp) return { port, child };
  }
  child.kill('SIGKILL');
  throw new Error('redis-server did not answer in time.');
}

async function answers(port: number): Promise<boolean> {
  // A client that could not connect keeps the timer of `disconnect` until it runs out.
  const options = { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0, disconnectTimeout: 10 };
  const client = new Redis(port, '127.0.0.1', options);
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.ping();
    return true;
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

/** Passes connections on to a port of this machine. */
function createFront(target: number) {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  let isHeld = false;
  const pipe = (client: Socket) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (chunk) => to.write(chunk));
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isHeld) from.pause();
    }
  };
  return {
    async listen(port: number): Promise<void> {
      server = createServer(pipe).listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    hold() {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    release() {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      if (!server?.listening) return;
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}
