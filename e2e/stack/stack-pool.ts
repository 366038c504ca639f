/**
 * Lends stacks to test files, one after another (leased-stack.ts). Runs in Jest's main process: a test file has its own modules, and cannot keep
 * processes for the next one. A file connects to a socket, asks for a stack, reads its description, and gives it back at the end.
 *
 * It also composes the supergraphs of small federations: each file would load and compile the composition anew.
 */
import { once } from 'node:events';
import { type Socket, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { eachSubgraph } from '@trestle/schema/subgraphs';
import { emptyStack } from './empty-stack.ts';
import type { ComposedSource } from './federation/composition.ts';
import type { PoolCommand, PoolReply, StackDescription } from './pool-connection.ts';
import type { Stack, SubgraphName } from './stack.ts';

/** A stack that no file has leased for so long is stopped: its processes would take time from other tests. */
const IDLE_MS = 60_000;

type Settings = Readonly<Record<string, string>>;

/** Most runs of single files do not need the module. */
const startStack = async (env: Settings): Promise<Stack> => (await import('./stack.ts')).startStack({ env, publicHost: '127.0.0.1' });

/** Stacks of the same settings have the same key. */
const keyOf = (env: Settings) => JSON.stringify(Object.entries(env).sort());

/** A stack that nobody leases now; undefined after a failure. */
interface Free {
  readonly key: string;
  readonly stack: Promise<Stack | undefined>;
  timer?: NodeJS.Timeout;
}

export interface StackPool {
  /** Stops all stacks. */
  stop(): Promise<void>;
}

/** Starts to listen at the path of a Unix socket. Starts no stack before a file needs it. */
export async function startStackPool(path: string): Promise<StackPool> {
  const stacks = createStacks();
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // A worker that is killed resets the connection.
    socket.on('error', () => undefined);
    socket.once('close', () => sockets.delete(socket));
    void serve(socket, stacks);
  }).listen(path);
  await once(server, 'listening');
  return {
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await stacks.stop();
    },
  };
}

type Stacks = ReturnType<typeof createStacks>;

/** Serves one lease, until its end. */
async function serve(socket: Socket, stacks: Stacks): Promise<void> {
  const lines: AsyncIterator<string> = createInterface({ input: socket })[Symbol.asyncIterator]();
  const receive = async (): Promise<PoolCommand | undefined> => {
    // A worker that is killed resets the connection.
    const next = await lines.next().catch(() => undefined);
    return next === undefined || next.done === true ? undefined : (JSON.parse(next.value) as PoolCommand);
  };
  const reply = (message: PoolReply) => socket.write(`${JSON.stringify(message)}\n`);
  const first = await receive();
  if (first?.command === 'compose') reply(await compose(first.sources));
  if (first?.command !== 'lease') return;
  let stack: Stack;
  try {
    stack = await stacks.take(first.env);
  } catch (error) {
    reply({ error: error instanceof Error ? error.message : String(error) });
    return;
  }
  reply({ stack: describe(stack) });
  const isGivenBack = await followCommands(stack, { receive, reply });
  if (isGivenBack) stacks.giveBack(stack, first.env);
  else stacks.discard(stack);
  reply({});
}

async function compose(sources: readonly ComposedSource[]): Promise<PoolReply> {
  try {
    const { composeSources } = await import('./federation/composition.ts');
    return { supergraphSdl: composeSources(sources) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

interface Conversation {
  /** Resolves with the next command; with undefined when the file has ended. */
  readonly receive: () => Promise<PoolCommand | undefined>;
  readonly reply: (message: PoolReply) => void;
}

/** Returns whether the file has given the stack back, and with all its processes. */
async function followCommands(stack: Stack, { receive, reply }: Conversation): Promise<boolean> {
  const killed = new Set<SubgraphName>();
  for (let next = await receive(); next; next = await receive()) {
    if (next.command === 'done') return killed.size === 0;
    if (next.command === 'lease' || next.command === 'compose') continue;
    const { subgraph } = next;
    killed.add(subgraph);
    try {
      if (next.command === 'kill') await stack.kill(subgraph, next.signal);
      else await stack.revive(subgraph);
    } catch (error) {
      reply({ error: error instanceof Error ? error.message : String(error) });
      return false;
    }
    if (next.command === 'revive') killed.delete(subgraph);
    reply({});
  }
  return false;
}

function describe({ rest, gateway, direct, settings, keyFiles, files, databaseUrls, subgraphs, nodes }: Stack): StackDescription {
  return {
    ...{ rest, gateway, direct, settings, keyFiles, files, databaseUrls },
    subgraphUrls: eachSubgraph((name) => subgraphs[name].url),
    nodes: nodes.map(({ gateway: { url } }) => ({ gateway: { url } })),
  };
}

/** Creates the stacks, which are empty when they are taken. */
function createStacks() {
  const free = new Set<Free>();
  const ending = new Set<Promise<void>>();
  const taken = new Set<Stack>();

  const discard = (stack: Stack) => {
    taken.delete(stack);
    const end = stack.stop().finally(() => ending.delete(end));
    ending.add(end);
  };
  const remove = (each: Free) => {
    clearTimeout(each.timer);
    free.delete(each);
  };

  return {
    /** Resolves with a stack of these settings that was given back, else a new one. */
    async take(env: Settings): Promise<Stack> {
      for (const each of free) {
        if (each.key !== keyOf(env)) continue;
        remove(each);
        const stack = await each.stack;
        if (!stack) return this.take(env);
        taken.add(stack);
        return stack;
      }
      const stack = await startStack(env);
      taken.add(stack);
      return stack;
    },
    giveBack(stack: Stack, env: Settings) {
      taken.delete(stack);
      const emptied = emptyStack(stack).then(
        () => stack,
        (error: unknown) => {
          process.stderr.write(`A shared stack is replaced because it could not be emptied: ${String(error)}\n`);
          discard(stack);
          return undefined;
        },
      );
      const each: Free = { key: keyOf(env), stack: emptied };
      free.add(each);
      each.timer = setTimeout(() => {
        remove(each);
        void emptied.then((kept) => {
          if (kept) discard(kept);
        });
      }, IDLE_MS);
    },
    discard,
    async stop() {
      for (const each of [...free]) {
        remove(each);
        const stack = await each.stack;
        if (stack) discard(stack);
      }
      for (const stack of [...taken]) discard(stack);
      await Promise.all(ending);
    },
  };
}
