/** A connection of a test file to the pool (stack-pool.ts). Both talk in lines of JSON: each command gets one reply. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { SubgraphName } from '@trestle/schema/subgraphs';
import type { ComposedSource } from './federation/composition.ts';
import type { Stack } from './stack.ts';

/** The addresses of one machine. */
export interface StackAddress {
  readonly gateway: { readonly url: string };
}

/** What a file learns of the stack that it leases. */
export type StackDescription = Pick<Stack, 'rest' | 'gateway' | 'direct' | 'settings' | 'keyFiles' | 'files' | 'databaseUrls'> & {
  readonly subgraphUrls: Readonly<Record<SubgraphName, string>>;
  readonly nodes: readonly StackAddress[];
};

/**
 * What a file asks of the pool: first a stack, whose processes get the settings `env` too, at the end to take it back. Or to compose a supergraph,
 * which is all that its connection is used for.
 */
export type PoolCommand =
  | { readonly command: 'lease'; readonly env: Readonly<Record<string, string>> }
  | { readonly command: 'kill'; readonly subgraph: SubgraphName; readonly signal: 'SIGTERM' | 'SIGKILL' }
  | { readonly command: 'revive'; readonly subgraph: SubgraphName }
  | { readonly command: 'done' }
  | { readonly command: 'compose'; readonly sources: readonly ComposedSource[] };

/** The pool's reply to a command; `stack` to a lease, `supergraphSdl` to a composition. */
export type PoolReply = { readonly stack?: StackDescription; readonly supergraphSdl?: string } | { readonly error: string };

/** Connects to the pool. A lease lasts as long as its connection. */
export function connectToPool() {
  const path = process.env['TEST_STACKS_SOCKET'];
  if (path === undefined) throw new Error('TEST_STACKS_SOCKET is not set. Run the test by Jest with the configuration of this repository.');
  const socket = connect(path);
  // An error closes it.
  socket.on('error', () => undefined);
  const lines = createInterface({ input: socket });
  const closed = new Promise<[string]>((resolve) => {
    socket.once('close', () => {
      resolve([JSON.stringify({ error: 'the pool has ended' })]);
    });
  });
  return {
    /** Rejects when the pool could not do it. */
    async send(command: PoolCommand) {
      const replied = once(lines, 'line') as Promise<[string]>;
      socket.write(`${JSON.stringify(command)}\n`);
      const [line] = await Promise.race([replied, closed]);
      const reply = JSON.parse(line) as PoolReply;
      if (!('error' in reply)) return reply;
      socket.destroy();
      throw new Error(`The pool could not ${command.command}: ${reply.error}`);
    },
    close: () => socket.destroy(),
  };
}
