/** A system with an authorization server, its clients and its accounts, for the OAuth scenarios. */
import { createHash, randomBytes } from 'node:crypto';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';

/** The device grant, as RFC 8628 names it. */
export const DEVICE_GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
/** Where the browser returns to; nothing listens there. */
export const CALLBACK = 'http://127.0.0.1:9/callback';

/** A client to register. */
export interface NewClient {
  readonly grantTypes: readonly string[];
  readonly scopes: readonly string[];
  readonly redirectUris?: readonly string[];
  readonly isPublic?: boolean;
  readonly owner: string;
}

/** A registered client. */
export interface RegisteredClient {
  readonly id: string;
  readonly secret: string;
}

/** The system. */
export interface OAuthSystem<AnyStack extends LeasedStack = LeasedStack> {
  readonly stack: AnyStack;
  /** The public origin of the bridge: the issuer. */
  readonly issuer: string;
  readonly ada: Account & { readonly email: string; readonly password: string };
  register(client: NewClient): Promise<RegisteredClient>;
  /** Sends a form, with the secret of a client if it is given. */
  post(path: string, fields: Readonly<Record<string, string>>, client?: RegisteredClient): Promise<FormReply>;
  stop(): Promise<void>;
}

/** The response to a form. */
export interface FormReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Leases the system. */
export async function leaseOAuthSystem(): Promise<OAuthSystem> {
  return createSystem(await leaseStack());
}

/** Starts a system of its own; `settings` go to every process, and `host` is the name of this machine in the issuer. */
export async function startOAuthSystem(settings: Readonly<Record<string, string>> = {}, host = '127.0.0.1'): Promise<OAuthSystem<Stack>> {
  return createSystem(await startStack({ env: settings, publicHost: host }), host);
}

async function createSystem<AnyStack extends LeasedStack>(stack: AnyStack, host = '127.0.0.1'): Promise<OAuthSystem<AnyStack>> {
  const issuer = `http://${host}:${new URL(stack.rest).port}`;
  const account = await stack.createAccount('Ada');
  return {
    stack,
    issuer,
    ada: { ...account, email: 'ada@example.org', password: 'Ada-passes-1' },
    register: (client) => register(stack, client),
    post: (path, fields, client) => post(`${issuer}${path}`, fields, client),
    stop: () => stack.stop(),
  };
}

async function register(
  stack: Pick<Stack, 'sql'>,
  { grantTypes, scopes, redirectUris = [], isPublic = false, owner }: NewClient,
): Promise<RegisteredClient> {
  const id = `cli_${randomBytes(8).toString('hex')}`;
  const secret = randomBytes(32).toString('base64url');
  const secretHash = isPublic ? null : createHash('sha256').update(secret).digest();
  await stack.sql(
    'users',
    `INSERT INTO "oauth_clients" ("id", "ownerId", "name", "secretHash", "redirectUris", "grantTypes", "scopes") VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, owner, 'Test application', secretHash, redirectUris, grantTypes, scopes],
  );
  return { id, secret };
}

async function post(url: string, fields: Readonly<Record<string, string>>, client?: RegisteredClient): Promise<FormReply> {
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    headers: client ? { authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}` } : {},
    body: new URLSearchParams(fields),
  });
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json');
  return { status: response.status, headers: response.headers, body: isJson ? (JSON.parse(text) as FormReply['body']) : { text } };
}
