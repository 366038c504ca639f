/** A registry process with a database of its own, and requests to it. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type TestDatabase, createTestDatabase } from '@trestle/postgres/test-database';
import { generateSigningKeys } from '@trestle/schema/artifact';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { ROOT, type RunningProcess, startProcess } from '../../stack/processes/process.ts';

export const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])';

/** Schemas of two subgraphs that compose. */
export const USERS = `${LINK}\ntype Query { user: User }\ntype User @key(fields: "id") {\n  id: ID!\n  name: String\n  age: Int\n}`;
export const ORDERS = `${LINK}\ntype Query { order: Order }\ntype Order { id: ID! buyer: User }\ntype User @key(fields: "id") { id: ID! }`;

/** A result of the API. */
export interface Answer<Data> {
  readonly data: Data | null | undefined;
  readonly errors: readonly { readonly message: string; readonly extensions: { readonly code: string } }[];
}

/** A registry that runs. */
export interface TestRegistry {
  readonly url: string;
  readonly home: string;
  readonly publicKeyFile: string;
  readonly databaseUrl: string;
  /** A token that may do everything. */
  readonly token: string;
  readonly process: () => RunningProcess;
  graphql<Data>(query: string, variables?: object, token?: string): Promise<Answer<Data>>;
  /** Starts the process again, at the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a registry, with a database on the server of `adminUrl`. `REGISTRY_SEED` is off unless `env` says otherwise. */
export async function startRegistry(
  env: Readonly<Record<string, string>> = {},
  adminUrl = process.env['TEST_PG_URL'] ?? '',
): Promise<TestRegistry> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-registry-'));
  const database = await createTestDatabase({ subgraph: 'registry', adminUrl });
  const keys = generateSigningKeys();
  const [signingKeyFile, publicKeyFile] = [join(home, 'registry.key'), join(home, 'registry.pem')];
  await writeFile(signingKeyFile, keys.privateKeyPem);
  await writeFile(publicKeyFile, keys.publicKeyPem);
  const port = String(await reserveTestPort());
  const settings = { REGISTRY_PORT: port, REGISTRY_DATABASE_URL: database.url, REGISTRY_SIGNING_KEY_FILE: signingKeyFile, ...env };
  const token = await createFirstToken(database);
  let running = await startProcess('registry', settings);
  const { url } = running;
  return {
    ...{ url, home, publicKeyFile, databaseUrl: database.url, token },
    process: () => running,
    graphql: (query, variables, secret = token) => send(`${url}/graphql`, { query, variables, secret }),
    async start() {
      running = await startProcess('registry', settings);
    },
    async stop() {
      await running.end('SIGTERM');
      await database.drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Runs the command that creates the first token. */
async function createFirstToken({ url }: TestDatabase): Promise<string> {
  const command = join(ROOT, 'registry/dist/token-create/main.js');
  const env = { PATH: process.env['PATH'], REGISTRY_DATABASE_URL: url };
  const { stdout } = await promisify(execFile)(process.execPath, [command, '--name', 'test'], { env });
  return stdout.trim();
}

async function send<Data>(
  url: string,
  { query, variables, secret }: { query: string; variables: object | undefined; secret: string },
): Promise<Answer<Data>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors = [] } = (await response.json()) as Partial<Answer<Data>>;
  return { data, errors };
}

/** Returns the name of an environment that no other test uses. */
export function newEnvironment(): string {
  return `e-${randomUUID().slice(0, 8)}`;
}

/** What a publish returns. */
export interface Published {
  readonly release: { readonly number: number; readonly launch: { readonly id: string } } | null;
  readonly isUnchanged: boolean;
  readonly problems: readonly {
    readonly code: string;
    readonly message: string;
    readonly places: readonly { subgraph: string; line: number }[];
  }[];
}

const PUBLISH = `mutation ($input: PublishSubgraphsInput!) {
  publishSubgraphs(input: $input) { release { number launch { id } } isUnchanged problems { code message places { subgraph line } } }
}`;

/** Publishes subgraphs by name. Rejects when the API refuses it. */
export async function publish(
  registry: Pick<TestRegistry, 'graphql'>,
  environment: string,
  sdls: Readonly<Record<string, string>>,
): Promise<Published> {
  const subgraphs = Object.entries(sdls).map(([name, sdl]) => ({ name, url: 'http://localhost/graphql', sdl }));
  const { data, errors } = await registry.graphql<{ publishSubgraphs: Published }>(PUBLISH, { input: { environment, subgraphs } });
  if (!data) throw new Error(errors.map(({ message }) => message).join('; '));
  return data.publishSubgraphs;
}
