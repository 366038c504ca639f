/** The whole system as real processes on free ports, each subgraph with a fresh database of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { ACCESS_TOKEN_SECONDS, createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { SUBGRAPH_NAMES, type SubgraphName, eachSubgraph } from '@trestle/schema/subgraphs';
import pg from 'pg';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { type Reply, request } from './clients/client.ts';
import { type Nodes, startNodes } from './processes/nodes.ts';
import { createOpenApiCheck } from './clients/openapi-check.ts';
import type { RunningProcess } from './processes/process.ts';
import { forEachSubgraph } from './processes/processes.ts';

export type { SubgraphName };

export interface Account {
  readonly id: string;
  readonly token: string;
}

/** The addresses `rest` and `gateway` have no path. */
export interface Stack extends Nodes {
  /** The processes behind `rest` and `gateway`. */
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
  /** Signs a token as `issueToken` does, which expires after this many seconds. */
  issueEndingToken(id: string, role: 'USER' | 'MODERATOR' | 'ADMIN', seconds: number): string;
  /** The settings that name the files of keys. */
  readonly keyFiles: Readonly<Record<'TOKEN_PRIVATE_KEY_FILE' | 'TOKEN_PUBLIC_KEY_FILE' | 'EVENTS_KEY_FILE', string>>;
  /** The folder of the file stores of this stack. */
  readonly files: string;
  readonly databaseUrls: Readonly<Record<SubgraphName, string>>;
}

export interface GraphqlReply<Data> {
  readonly status: number;
  readonly headers: Headers;
  readonly data: Data | null | undefined;
  readonly errors: readonly { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  readonly text: string;
}

export interface StackOptions {
  /** Goes to every process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Goes to the gateway alone, e.g. another SUPERGRAPH_FILE. */
  readonly gatewayEnv?: Readonly<Record<string, string>>;
  /** Goes to the bridge alone. */
  readonly bridgeEnv?: Readonly<Record<string, string>>;
  /** The PostgreSQL server of the databases; default: the one that all tests share. */
  readonly adminUrl?: string;
  /** Databases to use in place of new ones. `stop` drops them too. */
  readonly databases?: Partial<Readonly<Record<SubgraphName, TestDatabase>>>;
  /** How many machines there are; default: E2E_NODES, else one. */
  readonly nodes?: number;
  /** The name of this machine in the public origin of the bridge, which makes it an authorization server; default: none. */
  readonly publicHost?: string;
}

/** Starts everything. */
export async function startStack({
  env = {},
  gatewayEnv = {},
  bridgeEnv = {},
  adminUrl = process.env['TEST_PG_URL'] ?? '',
  databases: given = {},
  nodes: count = Number(process.env['E2E_NODES'] ?? 1),
  publicHost,
}: StackOptions = {}): Promise<Stack> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-e2e-'));
  const { privateKeyPem, keyFiles } = await writeTokenKeys(home);
  const databases = await forEachSubgraph(async (subgraph) => given[subgraph] ?? createTestDatabase({ subgraph, adminUrl }));
  const databaseUrls = eachSubgraph((name) => databases[name].url);
  const { sql, end: endPools } = openPools(databaseUrls);
  const release = async () => {
    await endPools();
    await Promise.all(SUBGRAPH_NAMES.map((name) => databases[name].drop()));
    await rm(home, { recursive: true, force: true });
  };
  const origin = publicHost === undefined ? undefined : await choosePublicOrigin(publicHost);
  const options = {
    ...{ count, gatewayEnv, databases },
    env: { FILES_DIR: join(home, 'files'), ...origin?.env, ...env, ...keyFiles },
    bridgeEnv: { ...origin?.bridgeEnv, ...bridgeEnv },
  };
  const nodes = await startNodes(options).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  const clients = createClients(nodes);
  return {
    ...nodes,
    edge: nodes.nodes.flatMap(({ bridge, gateway }) => [bridge, gateway]),
    sql,
    ...clients,
    ...createAccounts({ privateKeyPem, sql, call: clients.call }),
    keyFiles,
    files: join(home, 'files'),
    databaseUrls,
    async stop() {
      await nodes.stop();
      await release();
    },
  };
}

/** The origin must be known before the bridge starts. */
async function choosePublicOrigin(host: string) {
  const port = String(await reserveTestPort());
  return { env: { OAUTH_ISSUER: `http://${host}:${port}` }, bridgeEnv: { REST_PORT: port } };
}

async function writeTokenKeys(home: string) {
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  const keyFiles = {
    TOKEN_PRIVATE_KEY_FILE: join(home, 'private.pem'),
    TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem'),
    CLIENT_ID_KEY_FILE: join(home, 'client-id-key'),
    EVENTS_KEY_FILE: join(home, 'events-key'),
    API_KEY_SECRET_FILE: join(home, 'api-keys.secret'),
    WEBHOOK_KEY_FILE: join(home, 'webhooks.key'),
    OAUTH_KEY_FILE: join(home, 'oauth.key'),
  };
  await writeFile(keyFiles.TOKEN_PRIVATE_KEY_FILE, privateKeyPem);
  await writeFile(keyFiles.TOKEN_PUBLIC_KEY_FILE, publicKeyPem);
  await writeFile(keyFiles.CLIENT_ID_KEY_FILE, randomBytes(32).toString('hex'));
  await writeFile(keyFiles.EVENTS_KEY_FILE, randomBytes(32).toString('hex'));
  await writeFile(keyFiles.API_KEY_SECRET_FILE, randomBytes(32).toString('base64url'));
  await writeFile(keyFiles.WEBHOOK_KEY_FILE, randomBytes(32).toString('base64url'));
  await writeFile(keyFiles.OAUTH_KEY_FILE, randomBytes(32).toString('base64url'));
  return { privateKeyPem, keyFiles };
}

/** Opens connections to the databases of the subgraphs. */
export function openPools(urls: Stack['databaseUrls']): Pick<Stack, 'sql'> & { readonly end: () => Promise<void> } {
  const open = (name: SubgraphName) => {
    const pool = new pg.Pool({ connectionString: urls[name], max: 2 });
    // The drop of its database ends connections that are being closed.
    pool.on('error', () => undefined);
    return pool;
  };
  const pools = eachSubgraph(open);
  return {
    sql: async <Row extends object>(subgraph: SubgraphName, text: string, values: readonly unknown[] = []) =>
      (await pools[subgraph].query<Row>(text, [...values])).rows,
    async end() {
      await Promise.all(SUBGRAPH_NAMES.map((name) => pools[name].end()));
    },
  };
}

/** Creates the functions that send requests to the gateway and the bridge. */
export function createClients({ gateway, rest }: Pick<Stack, 'gateway' | 'rest'>): Pick<Stack, 'graphql' | 'call'> {
  const check = createOpenApiCheck(rest);
  return {
    async graphql<Data>(
      query: string,
      { variables, token }: { variables?: object; token?: string | undefined } = {},
    ): Promise<GraphqlReply<Data>> {
      const { status, headers, text } = await request(`${gateway}/graphql`, { method: 'POST', body: { query, variables }, token });
      const { data, errors } = JSON.parse(text) as Partial<GraphqlReply<Data>>;
      return { status, headers, text, data, errors: errors ?? [] };
    },
    async call(method, path, options = {}) {
      const reply = await request(`${rest}${path}`, { method, ...options });
      await check({ method, path, reply });
      return reply;
    },
  };
}

export interface AccountOptions extends Pick<Stack, 'sql' | 'call'> {
  readonly privateKeyPem: string;
}

/** Creates the functions that create accounts and sign their tokens. */
export function createAccounts({
  privateKeyPem,
  sql,
  call,
}: AccountOptions): Pick<Stack, 'createAccount' | 'issueToken' | 'issueEndingToken'> {
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
