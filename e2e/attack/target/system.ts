/** The system that is attacked: one that the suite starts for itself, or one that runs already. */
import { createPublicKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSigningKey } from '@trestle/identity/tokens/key-set';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer } from '@trestle/identity/tokens/tokens';
import { startEmbeddedPostgres } from '@trestle/postgres/embedded';
import pg from 'pg';
import { chooseFreePorts, readDemoCredentials, startSupervisor } from '../../stack/processes/supervisor-process.ts';
import { createCertificate } from '../../stack/clients/tls-client.ts';
import type { Address } from '../wire/connections.ts';

export const SERVICES = ['rest-bridge', 'gateway', 'users', 'orders', 'content'] as const;
export type ServiceName = (typeof SERVICES)[number];
export type ProcessName = ServiceName | 'supervisor';

export interface DemoAccount {
  readonly email: string;
  readonly password: string;
  readonly role: 'USER' | 'MODERATOR' | 'ADMIN';
  readonly userId: string;
  /** What its tokens must name: tokens of earlier ones are revoked. */
  readonly tokenGeneration: number;
}

/** What only the one who started a system knows of it. */
export interface OwnSystem {
  readonly accounts: readonly DemoAccount[];
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
  /** Signs a token as the users subgraph does. */
  issueToken(account: DemoAccount): string;
  /** A connection string of a subgraph's database. */
  databaseUrl(subgraph: 'users' | 'orders' | 'content'): string;
  readonly supervisorPid: number;
  /** The socket by which the supervisor holds its data directory. */
  readonly supervisorSocket: string;
  readonly hasDefaultLimits: boolean;
  /** Present when gateway and bridge speak TLS. */
  readonly certificate: string | undefined;
}

export interface System {
  readonly addresses: Readonly<Record<ServiceName, Address>>;
  readonly own: OwnSystem | undefined;
  /** Ends what was started and removes its files; leaves a system alone that ran before. */
  stop(): Promise<void>;
}

/** How a system is started. */
export interface SystemOptions {
  readonly isTls: boolean;
  /** Whether the rate limits are those of contract §6; otherwise no attack reaches them. */
  readonly hasDefaultLimits: boolean;
  /** Environment variables beside those that the suite sets. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Those of contract §6, in place of the raised ones that tests get. */
const DEFAULT_RATE_LIMITS = { RATE_LIMIT_ANONYMOUS_PER_MIN: '100', RATE_LIMIT_FREE_PER_MIN: '100', RATE_LIMIT_PRO_PER_MIN: '1000' };

/** Starts the whole of `npm start` on free ports, in a new directory. */
export async function startSystem({ isTls, hasDefaultLimits, settings }: SystemOptions): Promise<System> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-attack-'));
  // PostgreSQL runs as another user when the suite runs as root.
  await chmod(home, 0o755);
  const dataDirectory = join(home, 'data');
  const ports = await chooseFreePorts();
  const certificate = isTls ? await createCertificate(home) : undefined;
  const supervisor = startSupervisor({
    ports,
    dataDirectory,
    env: { LOG_LEVEL: 'error', ...certificate?.settings, ...(hasDefaultLimits && DEFAULT_RATE_LIMITS), ...settings },
  });
  let stopped: Promise<void> | undefined;
  const end = async () => {
    supervisor.child.kill('SIGTERM');
    await supervisor.ended;
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  };
  const stop = () => (stopped ??= end());
  try {
    await supervisor.says('Trestle is ready');
    const front = { host: '127.0.0.1', certificate: certificate?.cert };
    const keys = readKeys(join(dataDirectory, 'keys', 'tokens', 'private.jwks.json'));
    // It runs already: this attaches to it.
    const postgres = await startEmbeddedPostgres({ dataDir: join(dataDirectory, 'postgres'), port: ports.PG_PORT });
    const accounts = await readAccounts(dataDirectory, postgres.url('trestle_users'));
    const issuer = createTokenIssuer(keys);
    return {
      addresses: {
        'rest-bridge': { ...front, port: ports.REST_PORT },
        gateway: { ...front, port: ports.GATEWAY_PORT },
        users: { host: '127.0.0.1', port: ports.USERS_PORT },
        orders: { host: '127.0.0.1', port: ports.ORDERS_PORT },
        content: { host: '127.0.0.1', port: ports.CONTENT_PORT },
      },
      own: {
        accounts,
        ...keys,
        issueToken: ({ userId, ...rest }) => issuer.issue(createTestGrant({ id: userId, ...rest })).token,
        databaseUrl: (subgraph) => postgres.url(`trestle_${subgraph}`),
        supervisorSocket: join(dataDirectory, 'supervisor.sock'),
        supervisorPid: supervisor.child.pid ?? 0,
        hasDefaultLimits,
        certificate: certificate?.cert,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A demo account by the first part of its address. Throws when there is none. */
export function findAccount({ accounts }: OwnSystem, name: 'admin' | 'ada' | 'bob'): DemoAccount {
  const account = accounts.find(({ email }) => email.startsWith(`${name}@`));
  if (!account) throw new Error(`There is no demo account ${name}`);
  return account;
}

async function readAccounts(dataDirectory: string, databaseUrl: string): Promise<DemoAccount[]> {
  const { accounts } = readDemoCredentials(dataDirectory) as { accounts: Omit<DemoAccount, 'tokenGeneration'>[] };
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<{ id: string; tokenGeneration: number }>('SELECT id, "tokenGeneration" FROM users');
  await client.end();
  const generations = new Map(rows.map(({ id, tokenGeneration }) => [id, tokenGeneration]));
  return accounts.map((account) => ({ ...account, tokenGeneration: generations.get(account.userId) ?? 0 }));
}

/** A system that runs already. Throws when an address is not of this machine. */
export function attachSystem(urls: Readonly<Record<ServiceName, string>>): System {
  const addresses = Object.fromEntries(SERVICES.map((name) => [name, toLoopback(name, urls[name])])) as Record<ServiceName, Address>;
  return { addresses, own: undefined, stop: () => Promise.resolve() };
}

function toLoopback(name: string, text: string): Address {
  const { protocol, hostname, port } = new URL(text);
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol !== 'http:' || port === '') throw new Error(`--${name} ${text} must be http:// with a port`);
  if (!/^(?:127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|localhost)$/.test(host))
    throw new Error(`--${name} ${text} is not on this machine: attacks go to loopback addresses only`);
  return { host: host === 'localhost' ? '127.0.0.1' : host, port: Number(port) };
}

/** Returns the pair of keys that signs tokens now, in PEM. */
function readKeys(privateKeyFile: string): { readonly privateKeyPem: string; readonly publicKeyPem: string } {
  const { key } = parseSigningKey(readFileSync(privateKeyFile, 'utf8'));
  return {
    privateKeyPem: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString(),
  };
}
