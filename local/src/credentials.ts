/** Passwords and API keys of the demo accounts (contract §1). The keys are generated at the first start and kept in the data directory. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createApiKey, isApiKey } from '@trestle/identity/credentials/api-keys';
import { DEMO_ACCOUNTS } from './demo/accounts.ts';
import { DEMO_CLIENTS } from './demo/oauth-clients.ts';
import { writePrivateFile } from './data-directory.ts';

/** Holds the credentials of one demo account. */
export interface DemoAccountCredentials {
  readonly email: string;
  readonly password: string;
  readonly role: string;
  readonly plan: string;
  readonly userId: string;
  readonly apiKey: string;
}

/** Holds what an OAuth client needs to know of itself. */
export interface DemoClientCredentials {
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
}

/** Holds all demo credentials, in the form that `npm run demo:credentials -- --json` prints. */
export interface DemoCredentials {
  readonly accounts: readonly DemoAccountCredentials[];
  readonly oauthClients: readonly DemoClientCredentials[];
}

/** Returns the credentials of a data directory, or undefined before its first start with demo data. Throws when the file is damaged. */
export async function readCredentials(dataDirectory: string): Promise<DemoCredentials | undefined> {
  const text = await readFile(fileOf(dataDirectory), 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseCredentials(text, fileOf(dataDirectory));
}

function parseCredentials(text: string, file: string): DemoCredentials {
  const value = parseJson(text);
  if (isCredentials(value)) return value;
  throw new Error(
    `${file} ${text.trim() === '' ? 'is empty' : 'is not a list of demo accounts'}. Restore it from a backup, or move it to another directory: ` +
      'the next start then writes it again with the same accounts and passwords and with new API keys. All other data is kept.',
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns whether the value contains the credentials of every demo account. */
function isCredentials(value: unknown): value is DemoCredentials {
  const { accounts, oauthClients } = (value ?? {}) as { accounts?: unknown; oauthClients?: unknown };
  if (!Array.isArray(accounts) || !Array.isArray(oauthClients)) return false;
  const given = new Map((accounts as (Partial<DemoAccountCredentials> | null)[]).map((each) => [each?.userId, each]));
  return DEMO_ACCOUNTS.every(({ id }) => {
    const account = given.get(id);
    return [account?.email, account?.password, account?.role, account?.plan, account?.apiKey].every(
      (each) => typeof each === 'string' && each !== '',
    );
  });
}

/**
 * Returns the credentials of a data directory, and generates them when it has none. API keys of a version that did not accept them yet are
 * replaced, and OAuth clients that are missing are added. Throws when the file is damaged.
 */
export async function ensureCredentials(dataDirectory: string): Promise<DemoCredentials> {
  const kept = await readCredentials(dataDirectory);
  const accounts = kept?.accounts.every(({ apiKey }) => isApiKey(apiKey)) ? kept.accounts : undefined;
  const oauthClients = kept && hasClients(kept) ? kept.oauthClients : undefined;
  if (kept && accounts && oauthClients) return kept;
  const credentials: DemoCredentials = { accounts: accounts ?? createAccounts(), oauthClients: oauthClients ?? createClients() };
  await writePrivateFile(fileOf(dataDirectory), `${JSON.stringify(credentials, undefined, 2)}\n`);
  return credentials;
}

function hasClients({ oauthClients }: DemoCredentials): boolean {
  return DEMO_CLIENTS.every(({ id, hasSecret }) => {
    const known = oauthClients.find(({ clientId }) => clientId === id);
    return known !== undefined && typeof known.clientSecret === (hasSecret ? 'string' : 'undefined');
  });
}

function createClients(): DemoClientCredentials[] {
  return DEMO_CLIENTS.map(({ id, hasSecret, redirectUris, grantTypes }) => ({
    clientId: id,
    ...(hasSecret && { clientSecret: `trestle_secret_${randomBytes(32).toString('base64url')}` }),
    redirectUris,
    grantTypes,
  }));
}

function createAccounts(): DemoAccountCredentials[] {
  return DEMO_ACCOUNTS.map(({ id, email, password, role, plan }) => ({
    email,
    password,
    role,
    plan,
    userId: id,
    apiKey: createApiKey(),
  }));
}

/** Formats the credentials as two tables, of accounts and of OAuth clients, for the terminal. */
export function toTable({ accounts, oauthClients }: DemoCredentials): string {
  const ofAccounts = accounts.map(({ email, password, role, plan, apiKey }) => [email, password, role, plan, apiKey]);
  const ofClients = oauthClients.map(({ clientId, clientSecret = '(public)', redirectUris: [redirectUri = '(none)'] }) => {
    return [clientId, clientSecret, redirectUri];
  });
  const tables = [
    [['email', 'password', 'role', 'plan', 'API key'], ...ofAccounts],
    [['OAuth client', 'secret', 'redirect URI'], ...ofClients],
  ];
  return tables.map(alignColumns).join('\n\n');
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd()).join('\n');
}

function fileOf(dataDirectory: string): string {
  return join(dataDirectory, 'demo-credentials.json');
}
