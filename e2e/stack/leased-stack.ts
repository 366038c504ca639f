/**
 * A stack that test files use one after another. The pool (stack-pool.ts) starts as many as there are files at once, and empties the databases
 * between two files. A file that ends without giving its stack back, because it failed or hung, gets it stopped: no other file sees its state.
 */
import { readFile } from 'node:fs/promises';
import { type SubgraphName, eachSubgraph } from '@trestle/schema/subgraphs';
import { type StackAddress, connectToPool } from './pool-connection.ts';
import { type RunningProcess, startProcess } from './processes/process.ts';
import { type Stack, createAccounts, createClients, openPools } from './stack.ts';

/** What files may use of a stack that others use after them: they cannot read what its processes wrote, and end only subgraphs. */
export type LeasedStack = Pick<
  Stack,
  | 'rest'
  | 'gateway'
  | 'direct'
  | 'settings'
  | 'keyFiles'
  | 'files'
  | 'sql'
  | 'graphql'
  | 'call'
  | 'createAccount'
  | 'issueToken'
  | 'issueEndingToken'
  | 'startGateway'
  | 'startBridge'
  | 'startSubgraph'
  | 'kill'
  | 'revive'
> & {
  readonly subgraphs: Readonly<Record<SubgraphName, { readonly url: string }>>;
  readonly nodes: readonly StackAddress[];
  /** Gives the stack back, and ends the processes that this file has started. */
  stop(): Promise<void>;
};

/** Settings that a few files need: of one scenario each. They lease the same stacks, because none of these settings changes what another file tests. */
export const SPECIAL_SETTINGS = {
  CORS_ORIGINS: 'https://app.example.com',
  MAX_UPLOAD_BYTES: '3000000',
  WEBHOOK_ALLOW_PRIVATE: 'on',
  WEBHOOK_RETRY_SECONDS: '1,1,1',
} as const;

/** Leases a stack with empty databases. It is an authorization server, whose issuer is `rest`. Files that give the same `env` share stacks. */
export async function leaseStack({ env = {} }: { readonly env?: Readonly<Record<string, string>> } = {}): Promise<LeasedStack> {
  const pool = connectToPool();
  const { stack } = await pool.send({ command: 'lease', env });
  if (!stack) throw new Error('The pool has replied without a stack.');
  const { sql, end: endPools } = openPools(stack.databaseUrls);
  const privateKeyPem = await readFile(stack.keyFiles.TOKEN_PRIVATE_KEY_FILE, 'utf8');
  const further: RunningProcess[] = [];
  const startFurther = async (...parameters: Parameters<typeof startProcess>) => {
    const started = await startProcess(...parameters);
    further.push(started);
    return started;
  };
  const clients = createClients(stack);
  return {
    ...stack,
    subgraphs: eachSubgraph((name) => ({ url: stack.subgraphUrls[name] })),
    sql,
    ...clients,
    ...createAccounts({ privateKeyPem, sql, call: clients.call }),
    startGateway: (own = {}) => startFurther('gateway', { ...stack.settings.gateway, ...own }),
    startBridge: (own = {}) => startFurther('rest-bridge', { ...stack.settings.bridge, ...own }),
    startSubgraph: (name, nodeOptions) => startFurther(`subgraphs/${name}`, stack.settings[name], nodeOptions),
    async kill(subgraph, signal = 'SIGKILL') {
      await pool.send({ command: 'kill', subgraph, signal });
    },
    async revive(subgraph) {
      await pool.send({ command: 'revive', subgraph });
    },
    async stop() {
      await Promise.all(further.map((process) => process.end('SIGTERM')));
      await endPools();
      await pool.send({ command: 'done' });
      pool.close();
    },
  };
}
