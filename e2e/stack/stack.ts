/** The whole system as real processes on free ports, each subgraph with a fresh database of its own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ACCESS_TOKEN_SECONDS, createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens';
import { createTestDatabase } from '@trestle/postgres/test-database';
import { SUBGRAPH_NAMES, type SubgraphName, databaseSettingOf, eachSubgraph, portSettingOf, urlSettingOf } from '@trestle/schema/subgraphs';
import pg from 'pg';
import { type Reply, request } from './client.ts';
import { createOpenApiCheck } from './openapi-check.ts';
import { type RunningProcess, startProcess } from './process.ts';

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
  /** Runs SQL in a subgraph's database. */
  sql<Row extends object>(subgraph: SubgraphName, text: string, values?: readonly unknown[]): Promise<Row[]>;
  graphql<Data>(query: string, options?: { variables?: object; token?: string | undefined }): Promise<GraphqlReply<Data>>;
  /** Asks the bridge; the answer must be one that its OpenAPI document describes. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; token?: string | undefined; headers?: Record<string, string> },
  ): Promise<Reply>;
  /** Makes an account through the front door, gives it the role, and signs a token for it. */
  createAccount(name: string, role?: 'USER' | 'MODERATOR' | 'ADMIN'): Promise<Account>;
  /** Signs a token that any process of this stack accepts. */
  issueToken(id: string, role: 'USER' | 'MODERATOR' | 'ADMIN'): string;
  /** As `issueToken`, of a token that ends in so many seconds. */
  issueEndingToken(id: string, role: 'USER' | 'MODERATOR' | 'ADMIN', seconds: number): string;
  kill(subgraph: SubgraphName): Promise<void>;
  /** Starts a killed subgraph again where it was. */
  revive(subgraph: SubgraphName): Promise<void>;
  /** Starts one more process of a subgraph on the same database; it ends with the stack. */
  startSubgraph(subgraph: SubgraphName, nodeOptions?: readonly string[]): Promise<RunningProcess>;
  /** Starts one more gateway before the same subgraphs, with settings of its own; it ends with the stack. */
  startGateway(env?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  /** Starts one more bridge in front of the same gateway, with settings of its own; it ends with the stack. */
  startBridge(env?: Readonly<Record<string, string>>): Promise<RunningProcess>;
  stop(): Promise<void>;
}

export interface GraphqlReply<Data> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data | null | undefined;
  readonly errors: readonly { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  readonly text: string;
}

/** A bridge answers however busy the machine of the tests is: a 503 stands for what a test does, not for what others do. */
const PATIENT = { MAX_EVENT_LOOP_DELAY_MS: '60000' };

export interface StackOptions {
  /** Goes to every process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Goes to the gateway alone, e.g. another SUPERGRAPH_FILE. */
  readonly gatewayEnv?: Readonly<Record<string, string>>;
  /** The PostgreSQL server of the databases; default: the one that all tests share. */
  readonly adminUrl?: string;
}

/** Starts everything. */
export async function startStack({
  env = {},
  gatewayEnv = {},
  adminUrl = process.env['TEST_PG_URL'] ?? '',
}: StackOptions = {}): Promise<Stack> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-e2e-'));
  const keys = generateTokenKeys();
  const keyFiles = { TOKEN_PRIVATE_KEY_FILE: join(home, 'private.pem'), TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem') };
  await writeFile(keyFiles.TOKEN_PRIVATE_KEY_FILE, keys.privateKeyPem);
  await writeFile(keyFiles.TOKEN_PUBLIC_KEY_FILE, keys.publicKeyPem);

  const databases = await forEachSubgraph((subgraph) => createTestDatabase({ subgraph, adminUrl }));
  const pools = await forEachSubgraph((name) => {
    const pool = new pg.Pool({ connectionString: databases[name].url, max: 2 });
    // A connection that is on its way to its end is ended by the drop of its database.
    pool.on('error', () => undefined);
    return Promise.resolve(pool);
  });
  // Told by the first of the subgraphs to the others.
  let revocations: Readonly<Record<string, string>> = {};
  const startSubgraph = (name: SubgraphName, port = 0, nodeOptions: readonly string[] = []) => {
    const own = { [portSettingOf(name)]: String(port), [databaseSettingOf(name)]: databases[name].url };
    return startProcess(`subgraphs/${name}`, { ...env, ...keyFiles, ...(name !== 'users' && revocations), ...own }, nodeOptions);
  };
  const users = await startSubgraph('users');
  revocations = { REVOCATIONS_URL: `${users.url}/revocations` };
  const subgraphs = await forEachSubgraph((name) => (name === 'users' ? Promise.resolve(users) : startSubgraph(name)));
  const urls = Object.fromEntries(SUBGRAPH_NAMES.map((name) => [urlSettingOf(name), `${subgraphs[name].url}/graphql`]));
  const startGateway = (own: Readonly<Record<string, string>> = {}) =>
    startProcess('gateway', { ...env, ...keyFiles, ...revocations, ...urls, GATEWAY_PORT: '0', ...gatewayEnv, ...own });
  const gateway = await startGateway();
  const further: RunningProcess[] = [];
  const bridges: RunningProcess[] = [];
  const startBridge = async (own: Readonly<Record<string, string>> = {}) => {
    const started = await startProcess('rest-bridge', {
      ...PATIENT,
      ...env,
      ...keyFiles,
      REST_PORT: '0',
      GATEWAY_URL: `${gateway.url}/graphql`,
      ...own,
    });
    bridges.push(started);
    return started;
  };
  const bridge = await startBridge();
  const check = createOpenApiCheck(bridge.url);
  const issuer = createTokenIssuer({ privateKeyPem: keys.privateKeyPem });
  const generations = new Map<string, number>();

  const stack: Stack = {
    rest: bridge.url,
    gateway: gateway.url,
    subgraphs,
    sql: async <Row extends object>(subgraph: SubgraphName, text: string, values: readonly unknown[] = []) =>
      (await pools[subgraph].query<Row>(text, [...values])).rows,
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
    issueToken: (id, role) => issuer.issue({ id, role, tokenGeneration: generations.get(id) ?? 0 }).token,
    issueEndingToken(id, role, seconds) {
      const now = () => Date.now() - (ACCESS_TOKEN_SECONDS - seconds) * 1000;
      return createTokenIssuer({ privateKeyPem: keys.privateKeyPem, now }).issue({ id, role, tokenGeneration: generations.get(id) ?? 0 })
        .token;
    },
    async createAccount(name, role = 'USER') {
      const email = `${name.toLowerCase().replace(/\W+/g, '.')}@example.org`;
      const { body } = await stack.call('POST', '/v1/users', { body: { email, name, password: `${name}-passes-1` } });
      const { id } = body as { id: string };
      if (role !== 'USER') {
        await stack.sql('users', 'UPDATE users SET role = $2::"Role" WHERE id = $1', [id, role]);
        // That has ended the tokens of a mere user.
        generations.set(id, 1);
      }
      return { id, token: stack.issueToken(id, role) };
    },
    kill: (name) => subgraphs[name].end('SIGKILL'),
    async revive(name) {
      subgraphs[name] = await startSubgraph(name, subgraphs[name].port);
    },
    async startSubgraph(name, nodeOptions) {
      const started = await startSubgraph(name, 0, nodeOptions);
      further.push(started);
      return started;
    },
    async startGateway(env) {
      const started = await startGateway(env);
      further.push(started);
      return started;
    },
    startBridge,
    async stop() {
      await Promise.all([...bridges, ...further, gateway, ...Object.values(subgraphs)].map((process) => process.end('SIGTERM')));
      await Promise.all(SUBGRAPH_NAMES.map((name) => pools[name].end()));
      await Promise.all(SUBGRAPH_NAMES.map((name) => databases[name].drop()));
      await rm(home, { recursive: true, force: true });
    },
  };
  return stack;
}

/** Makes something for all subgraphs at once. */
async function forEachSubgraph<T>(make: (name: SubgraphName) => Promise<T>): Promise<Record<SubgraphName, T>> {
  const making = eachSubgraph(make);
  await Promise.all(Object.values(making));
  const made = await Promise.all(SUBGRAPH_NAMES.map(async (name) => [name, await making[name]] as const));
  return Object.fromEntries(made) as Record<SubgraphName, T>;
}
