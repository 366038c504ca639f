/** The whole system as real processes on free ports, each subgraph with a fresh database of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestGrant } from '@trestle/identity/test-identity';
import { ACCESS_TOKEN_SECONDS, createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { SUBGRAPH_NAMES, type SubgraphName, databaseSettingOf, eachSubgraph, portSettingOf, urlSettingOf } from '@trestle/schema/subgraphs';
import pg from 'pg';
import { type Reply, request } from './client.ts';
import { createOpenApiCheck } from './openapi-check.ts';
import { PATIENT, type RunningProcess, startProcess } from './process.ts';

export type { SubgraphName };

export interface Account {
  readonly id: string;
  readonly token: string;
}

export interface Stack {
  /** The bridge's address and the gateway's, without a path. */
  readonly rest: string;
  readonly gateway: string;
  readonly subgraphs: Record<SubgraphName, RunningProcess>;
  /** The processes behind these two addresses. */
  readonly edge: readonly RunningProcess[];
  /** Runs SQL in a subgraph's database. */
  sql<Row extends object>(subgraph: SubgraphName, text: string, values?: readonly unknown[]): Promise<Row[]>;
  graphql<Data>(query: string, options?: { variables?: object; token?: string | undefined }): Promise<GraphqlReply<Data>>;
  /** Sends a request to the bridge. Rejects when its OpenAPI document does not describe the response. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string | undefined; headers?: Record<string, string> },
  ): Promise<Reply>;
  /** Creates an account by a request, gives it the role, and signs a token for it. */
  createAccount(name: string, role?: 'USER' | 'MODERATOR' | 'ADMIN'): Promise<Account>;
  /** Signs a token that any process of this stack accepts. */
  issueToken(id: string, role: 'USER' | 'MODERATOR' | 'ADMIN'): string;
  /** As `issueToken`, of a token that expires after so many seconds. */
  issueEndingToken(id: string, role: 'USER' | 'MODERATOR' | 'ADMIN', seconds: number): string;
  kill(subgraph: SubgraphName): Promise<void>;
  /** Starts a killed subgraph again where it was. */
  revive(subgraph: SubgraphName): Promise<void>;
  /** Starts another process of a subgraph on the same database; `stop` ends it. */
  startSubgraph(subgraph: SubgraphName, nodeOptions?: readonly string[]): Promise<RunningProcess>;
  /** Starts another gateway for the same subgraphs, with settings of its own; `stop` ends it. */
  startGateway(env?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** Starts another bridge for the same gateway, with settings of its own; `stop` ends it. */
  startBridge(env?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** The settings that name the files of the token keys. */
  readonly keyFiles: { readonly TOKEN_PRIVATE_KEY_FILE: string; readonly TOKEN_PUBLIC_KEY_FILE: string };
  stop(): Promise<void>;
}

export interface GraphqlReply<Data> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data | null | undefined;
  readonly errors: readonly { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  readonly text: string;
}

/** What the users subgraph needs of browsers, as `npm start` sets it. */
const FORWARDING = { FORWARD_MUTATION_HEADERS: 'cookie,origin,user-agent', FORWARD_RESPONSE_HEADERS: 'set-cookie' };

export interface StackOptions {
  /** Goes to every process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Goes to the gateway alone, e.g. another SUPERGRAPH_FILE. */
  readonly gatewayEnv?: Readonly<Record<string, string>>;
  /** Goes to the bridge alone. */
  readonly bridgeEnv?: Readonly<Record<string, string>>;
  /** The PostgreSQL server of the databases; default: the one that all tests share. */
  readonly adminUrl?: string;
}

/** Starts everything. */
export async function startStack({
  env = {},
  gatewayEnv = {},
  bridgeEnv = {},
  adminUrl = process.env['TEST_PG_URL'] ?? '',
}: StackOptions = {}): Promise<Stack> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-e2e-'));
  const { privateKeyPem, keyFiles } = await writeTokenKeys(home);
  const databases = await forEachSubgraph((subgraph) => createTestDatabase({ subgraph, adminUrl }));
  const pools = await forEachSubgraph((name) => Promise.resolve(openPool(databases[name].url)));
  const processes = await startProcesses({ env: { ...env, ...keyFiles }, gatewayEnv, bridgeEnv, databases });
  const { subgraphs, gateway, bridge } = processes;
  const clients = createClients({ gateway, bridge });
  const sql: Stack['sql'] = async <Row extends object>(subgraph: SubgraphName, text: string, values: readonly unknown[] = []) =>
    (await pools[subgraph].query<Row>(text, [...values])).rows;
  return {
    rest: bridge.url,
    gateway: gateway.url,
    subgraphs,
    edge: [bridge, gateway],
    sql,
    ...clients,
    ...createAccounts({ privateKeyPem, sql, call: clients.call }),
    kill: (name) => subgraphs[name].end('SIGKILL'),
    revive: processes.revive,
    startSubgraph: processes.startSubgraph,
    startGateway: processes.startGateway,
    startBridge: processes.startBridge,
    keyFiles,
    async stop() {
      await processes.stop();
      await Promise.all(SUBGRAPH_NAMES.map((name) => pools[name].end()));
      await Promise.all(SUBGRAPH_NAMES.map((name) => databases[name].drop()));
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function writeTokenKeys(home: string) {
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  const keyFiles = {
    TOKEN_PRIVATE_KEY_FILE: join(home, 'private.pem'),
    TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem'),
    CLIENT_ID_KEY_FILE: join(home, 'client-id-key'),
    API_KEY_SECRET_FILE: join(home, 'api-keys.secret'),
  };
  await writeFile(keyFiles.TOKEN_PRIVATE_KEY_FILE, privateKeyPem);
  await writeFile(keyFiles.TOKEN_PUBLIC_KEY_FILE, publicKeyPem);
  await writeFile(keyFiles.CLIENT_ID_KEY_FILE, randomBytes(32).toString('hex'));
  await writeFile(keyFiles.API_KEY_SECRET_FILE, randomBytes(32).toString('base64url'));
  return { privateKeyPem, keyFiles };
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 2 });
  // The drop of its database ends connections that are being closed.
  pool.on('error', () => undefined);
  return pool;
}

interface ProcessOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly gatewayEnv: Readonly<Record<string, string>>;
  readonly bridgeEnv: Readonly<Record<string, string>>;
  readonly databases: Readonly<Record<SubgraphName, TestDatabase>>;
}

/** Starts the subgraphs, `users` first because it publishes the revocations, then the gateway and the bridge. */
async function startProcesses({ env, gatewayEnv, bridgeEnv, databases }: ProcessOptions) {
  const further: RunningProcess[] = [];
  const keep = async (starting: Promise<RunningProcess>) => {
    const started = await starting;
    further.push(started);
    return started;
  };
  let revocations: Readonly<Record<string, string>> = {};
  const startSubgraph = (name: SubgraphName, port = 0, nodeOptions: readonly string[] = []) => {
    const own = { [portSettingOf(name)]: String(port), [databaseSettingOf(name)]: databases[name].url };
    return startProcess(`subgraphs/${name}`, { SECURE_COOKIES: 'off', ...env, ...(name !== 'users' && revocations), ...own }, nodeOptions);
  };
  const users = await startSubgraph('users');
  revocations = { REVOCATIONS_URL: `${users.url}/revocations` };
  const authentication = { ...revocations, API_KEY_EXCHANGE_URL: `${users.url}/api-keys/exchange` };
  const subgraphs = await forEachSubgraph((name) => (name === 'users' ? Promise.resolve(users) : startSubgraph(name)));
  const urls = Object.fromEntries(SUBGRAPH_NAMES.map((name) => [urlSettingOf(name), `${subgraphs[name].url}/graphql`]));
  const startGateway = (own: Readonly<Record<string, string>> = {}) =>
    keep(startProcess('gateway', { ...FORWARDING, ...env, ...authentication, ...urls, GATEWAY_PORT: '0', ...gatewayEnv, ...own }));
  const gateway = await startGateway();
  const startBridge = (own: Readonly<Record<string, string>> = {}) =>
    keep(
      startProcess('rest-bridge', {
        ...{ ...PATIENT, ...env, ...authentication, REST_PORT: '0', GATEWAY_URL: `${gateway.url}/graphql`, USERS_URL: users.url },
        ...own,
      }),
    );
  const bridge = await startBridge(bridgeEnv);
  return {
    subgraphs,
    gateway,
    bridge,
    startGateway,
    startBridge,
    startSubgraph: (name: SubgraphName, nodeOptions?: readonly string[]) => keep(startSubgraph(name, 0, nodeOptions)),
    revive: async (name: SubgraphName) => {
      subgraphs[name] = await startSubgraph(name, subgraphs[name].port);
    },
    stop: async () => {
      await Promise.all([...further, ...Object.values(subgraphs)].map((process) => process.end('SIGTERM')));
    },
  };
}

/** Creates the functions that send requests to the gateway and the bridge. */
function createClients({ gateway, bridge }: Record<'gateway' | 'bridge', RunningProcess>): Pick<Stack, 'graphql' | 'call'> {
  const check = createOpenApiCheck(bridge.url);
  return {
    async graphql<Data>(
      query: string,
      { variables, token }: { variables?: object; token?: string | undefined } = {},
    ): Promise<GraphqlReply<Data>> {
      const { status, headers, text } = await request(`${gateway.url}/graphql`, { method: 'POST', body: { query, variables }, token });
      const { data, errors } = JSON.parse(text) as Partial<GraphqlReply<Data>>;
      return { status, headers, text, data, errors: errors ?? [] };
    },
    async call(method, path, options = {}) {
      const reply = await request(`${bridge.url}${path}`, { method, ...options });
      await check({ method, path, reply });
      return reply;
    },
  };
}

interface AccountOptions extends Pick<Stack, 'sql' | 'call'> {
  readonly privateKeyPem: string;
}

/** Creates the functions that create accounts and sign their tokens. */
function createAccounts({ privateKeyPem, sql, call }: AccountOptions): Pick<Stack, 'createAccount' | 'issueToken' | 'issueEndingToken'> {
  const issuer = createTokenIssuer({ privateKeyPem });
  const generations = new Map<string, number>();
  const grantOf = (id: string, role: 'USER' | 'MODERATOR' | 'ADMIN') =>
    createTestGrant({ id, role, tokenGeneration: generations.get(id) ?? 0 });
  const issueToken: Stack['issueToken'] = (id, role) => issuer.issue(grantOf(id, role)).token;
  return {
    issueToken,
    issueEndingToken(id, role, seconds) {
      const now = () => Date.now() - (ACCESS_TOKEN_SECONDS - seconds) * 1000;
      return createTokenIssuer({ privateKeyPem, now }).issue(grantOf(id, role)).token;
    },
    async createAccount(name, role = 'USER') {
      const email = `${name.toLowerCase().replace(/\W+/g, '.')}@example.org`;
      const { body } = await call('POST', '/v1/users', { body: { email, name, password: `${name}-passes-1` } });
      const { id } = body as { id: string };
      if (role !== 'USER') {
        await sql('users', 'UPDATE users SET role = $2::"Role" WHERE id = $1', [id, role]);
        // The change of role revoked the tokens of generation 0.
        generations.set(id, 1);
      }
      return { id, token: issueToken(id, role) };
    },
  };
}

/** Makes something for all subgraphs at once. */
async function forEachSubgraph<T>(make: (name: SubgraphName) => Promise<T>): Promise<Record<SubgraphName, T>> {
  const making = eachSubgraph(make);
  await Promise.all(Object.values(making));
  const made = await Promise.all(SUBGRAPH_NAMES.map(async (name) => [name, await making[name]] as const));
  return Object.fromEntries(made) as Record<SubgraphName, T>;
}
