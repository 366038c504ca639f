/** Which processes there are, and exactly what each may know. */
import { join } from 'node:path';
import { SUBGRAPH_NAMES, type SubgraphName, databaseSettingOf, portSettingOf, urlSettingOf } from '@trestle/schema/subgraphs';
import { BRIDGE_SETTINGS, GATEWAY_SETTINGS, SUBGRAPH_SETTINGS, type Config, type Inherited } from './config.ts';
import type { DatabaseUrls } from './databases.ts';
import type { TokenKeyFiles } from './token-keys.ts';

export interface ProcessPlan {
  readonly name: string;
  /** Arguments of Node.js: its options, then the entry point. */
  readonly args: readonly string[];
  readonly port: number;
  readonly env: Readonly<Record<string, string>>;
}

const HOST = '127.0.0.1';
/** The options of Node.js that every process has, wherever it runs. */
const NODE_OPTIONS_FILE = 'packages/service/node.env';

export interface PlanOptions {
  readonly config: Config;
  readonly databaseUrls: DatabaseUrls;
  readonly keys: TokenKeyFiles & { readonly clientIdKeyFile: string };
}

/** Gives the processes in groups, in the order to start; a group needs only those before it, and is stopped before them. */
export function planProcesses({ config, databaseUrls, keys }: PlanOptions): ProcessPlan[][] {
  const inherit = (...names: Inherited[]) =>
    Object.fromEntries(names.flatMap((name) => (config.inherited[name] === undefined ? [] : [[name, config.inherited[name]]])));
  // Nobody but us sends requests: no load balancer has to be waited for.
  const shared = {
    DRAIN_DELAY_MS: '0',
    ...inherit('PATH'),
    HOST,
    LOG_LEVEL: config.LOG_LEVEL,
    TOKEN_PUBLIC_KEY_FILE: keys.publicKeyFile,
    CLIENT_ID_KEY_FILE: keys.clientIdKeyFile,
  };
  const plan = (name: string, room: string, { port, env }: { port: number; env: Record<string, string> }): ProcessPlan => ({
    name,
    args: [`--env-file=${join(config.root, NODE_OPTIONS_FILE)}`, join(config.root, room, 'dist', 'main.js')],
    port,
    env: { ...shared, ...env },
  });

  const portOf = (name: SubgraphName) => config[portSettingOf(name)];
  const revocations = { REVOCATIONS_URL: `http://${HOST}:${String(portOf('users'))}/revocations` };
  const subgraph = (name: SubgraphName) => {
    const env = { [portSettingOf(name)]: String(portOf(name)), [databaseSettingOf(name)]: databaseUrls[name] };
    // Only the owner of the accounts signs tokens, and tells the others which of them are revoked.
    const own = name === 'users' ? { TOKEN_PRIVATE_KEY_FILE: keys.privateKeyFile } : revocations;
    return plan(name, `subgraphs/${name}`, { port: portOf(name), env: { ...inherit(...SUBGRAPH_SETTINGS), ...env, ...own } });
  };
  const publicGatewayUrl = config.inherited.PUBLIC_GATEWAY_URL;
  const gateway = plan('gateway', 'gateway', {
    port: config.GATEWAY_PORT,
    env: {
      ...inherit(...GATEWAY_SETTINGS),
      ...revocations,
      GATEWAY_PORT: String(config.GATEWAY_PORT),
      ...Object.fromEntries(SUBGRAPH_NAMES.map((name) => [urlSettingOf(name), graphqlAt(portOf(name))])),
      ...config.subgraphSettings,
      // A process redirects plain HTTP to the host of its own PUBLIC_URL; ours is the bridge's.
      ...(publicGatewayUrl !== undefined && { PUBLIC_URL: publicGatewayUrl }),
    },
  });
  const certificate = config.inherited.TLS_CERT_FILE;
  const bridge = plan('rest-bridge', 'rest-bridge', {
    port: config.REST_PORT,
    env: {
      ...inherit(...BRIDGE_SETTINGS),
      REST_PORT: String(config.REST_PORT),
      GATEWAY_URL: graphqlAt(config.GATEWAY_PORT, certificate === undefined ? 'http' : 'https'),
      // It is called by an address that its certificate need not name.
      ...(certificate !== undefined && { GATEWAY_CERT_FILE: certificate }),
    },
  });
  return [SUBGRAPH_NAMES.map(subgraph), [gateway], [bridge]];
}

function graphqlAt(port: number, scheme: 'http' | 'https' = 'http'): string {
  return `${scheme}://${HOST}:${String(port)}/graphql`;
}
