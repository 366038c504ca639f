/** The HTTP endpoints of the authorization server, in the process of the users subgraph. Public are they through the bridge only. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, hkdfSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Query } from '@trestle/chassis/database/query';
import type { SigningKeySource } from '@trestle/identity/tokens/key-source';
import type { PublicJwk, SigningKey } from '@trestle/identity/tokens/key-set';
import type { Revocation } from '@trestle/identity/revocations/revocations';
import type { TokenIssuer } from '@trestle/identity/tokens/tokens';
import type { TokenVerifier } from '@trestle/identity/verification/token-verifier';
import type { Log } from '@trestle/log';
import { clientOf, passedClientOf } from '@trestle/service/clients/client-id';
import type { JWK } from 'oidc-provider';
import type { AttemptStore } from '../login/attempt-store.ts';
import type { ClientDescription } from '../security/security-events.ts';
import { toSessionClient } from '../session/client.ts';
import type { LoginAccount } from '../session/store.ts';
import { type AccountGenerations, createAccountGenerations } from './account-generations.ts';
import { type TokenAccount, createAccessTokens } from './access-tokens.ts';
import { createAdapterFactory } from './adapter.ts';
import { createClientStore } from './client-store.ts';
import { type AccountClaims, INTERACTION_PATH, PATHS, STYLE_PATH } from './configuration.ts';
import { type InteractionOptions, createInteractions } from './interactions.ts';
import { createGuessLimit, createRecordLimit } from './limits.ts';
import { sendPage } from './page-response.ts';
import { errorPage } from './pages/error-page.ts';
import { STYLE } from './pages/style.ts';
import { createProvider } from './provider.ts';
import { createRecordStore } from './record-store.ts';
import { FormError, readForm, setIssuer, withEncodedToken } from './requests.ts';

/** An account as the server reads it. */
export type OAuthAccount = AccountClaims & TokenAccount;

/** Checks a login as a function of the pages does. Resolves with the account as the check has read it. */
type CheckLogin<Check extends (input: never) => Promise<string>> = (...input: Parameters<Check>) => Promise<LoginAccount>;

/** What the server is created from. */
export interface OAuthServerOptions {
  /** The public origin of the bridge. */
  readonly issuer: string;
  /** 32 characters or more: signs cookies and forms. */
  readonly key: string;
  /** Signs ID tokens: the key of access tokens, also after it was replaced. */
  readonly signingKey: Pick<SigningKeySource, 'current'>;
  /** Returns the keys that verify ID tokens: those that sign now, did so lately, or will soon. */
  readonly publicKeys: () => readonly PublicJwk[];
  readonly query: Query;
  /** Counts wrong user codes. */
  readonly attempts: AttemptStore;
  readonly log: Log;
  readonly tokens: TokenIssuer;
  readonly verifier: Pick<TokenVerifier, 'verify'>;
  /** Resolves with an active account; undefined without one. */
  readonly findAccount: (id: string) => Promise<OAuthAccount | undefined>;
  /** As the pages do it, with the account as it was checked. */
  readonly authenticate: CheckLogin<InteractionOptions['authenticate']>;
  readonly completeLogin: CheckLogin<InteractionOptions['completeLogin']>;
  /** Stores the revocation of one token. */
  readonly revokeToken: (userId: string, tokenId: string) => Promise<void>;
  /** Publishes a revocation that was stored already. */
  readonly publish: (revocation: Revocation) => Promise<void>;
}

/** The server. */
export interface OAuthServer {
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void;
  /** Deletes expired records. */
  readonly sweep: () => Promise<void>;
}

/** Creates the server. */
export function createOAuthServer(options: OAuthServerOptions): OAuthServer {
  const { log, findAccount } = options;
  const issuer = new URL(options.issuer);
  const guesses = createGuessLimit(options.attempts, options.key);
  const wrong = new WeakSet<IncomingMessage>();
  const { providerOf, records } = createParts(options, (request) => {
    wrong.add(request);
  });
  const checkUserCode = async (request: IncomingMessage, response: ServerResponse, check: () => Promise<void>): Promise<void> => {
    const client = clientOf(request);
    if (await guesses.claim(client)) await check().finally(() => (wrong.has(request) ? undefined : guesses.release(client)));
    else refuseGuess(response);
  };
  const pages = {
    ...{ csrfKey: deriveKey(options.key, 'forms'), origin: issuer.origin, findAccount },
    authenticate: async (...input: Parameters<typeof options.authenticate>) => noteAccount(await options.authenticate(...input)),
    completeLogin: async (...input: Parameters<typeof options.completeLogin>) => noteAccount(await options.completeLogin(...input)),
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    const { provider, callback } = providerOf(options.signingKey.current());
    /** Without a session the library fails to send the form again, because the session was never saved. */
    const isNewBrowser = async (): Promise<boolean> => 'new' in (await provider.Session.get(provider.createContext(request, response)));
    setIssuer(request, issuer);
    if (path === STYLE_PATH) sendStyle(request, response);
    else if (path.startsWith(INTERACTION_PATH)) await createInteractions({ ...pages, provider })(request, response);
    else if (request.method === 'POST' && path === PATHS.code_verification && (await isNewBrowser()))
      response.writeHead(303, { location: PATHS.code_verification, 'cache-control': 'no-store' }).end();
    else if (request.method === 'POST' && path === PATHS.code_verification)
      await checkUserCode(request, response, () => callback(request, response));
    else if (request.method === 'POST' && path === PATHS.authorization) await redirectForm(request, response);
    else if (request.method === 'POST' && TOKEN_PATHS.has(path)) await callback(await withEncodedToken(request), response);
    else await callback(request, response);
  };
  return {
    handle: (request, response) => {
      current
        .run({ request, generations: createAccountGenerations() }, () => respond(request, response))
        .catch((error: unknown) => {
          sendFailure(response, error, log);
        });
    },
    sweep: () => records.sweep(),
  };
}

/** The request that is handled. The library's own context does not cover the pages. */
const current = new AsyncLocalStorage<{ readonly request: IncomingMessage; readonly generations: AccountGenerations }>();

/** Returns what the request has read of accounts. */
function currentGenerations(): AccountGenerations {
  return current.getStore()?.generations ?? createAccountGenerations();
}

/** Notes the account of a login. Returns its id. */
function noteAccount({ id, tokenGeneration }: LoginAccount): string {
  currentGenerations().note(id, tokenGeneration);
  return id;
}

function describeClient(): ClientDescription {
  const request = current.getStore()?.request;
  return toSessionClient({ http: { userAgent: request?.headers['user-agent'], client: request && passedClientOf(request) } });
}

/** Where a token of the system's own form is looked up. */
const TOKEN_PATHS: ReadonlySet<string> = new Set([PATHS.revocation, PATHS.introspection]);

function createParts(options: OAuthServerOptions, onWrongUserCode: (request: IncomingMessage) => void) {
  const { issuer, key, log, query, publish, findAccount } = options;
  const records = createRecordStore({ query, generations: currentGenerations, lookupKey: deriveKey(key, 'user codes') });
  const clients = createClientStore(query);
  const accessTokens = createAccessTokens({
    issuer: options.tokens,
    verifier: options.verifier,
    clients,
    findAccount,
    generationOf: (accountId) => currentGenerations().of(accountId),
    async revokeToken(userId, tokenId) {
      await options.revokeToken(userId, tokenId);
      await publish({ userId, tokenId });
    },
  });
  const endGrant = async (sessionId: string, detail: string) => {
    const userId = await records.endGrant(sessionId, { detail, client: describeClient() });
    if (userId !== undefined) await publish({ userId, sessionId });
  };
  const adapter = createAdapterFactory({
    records,
    clients,
    accessTokens,
    endGrant,
    describeClient,
    takeAnonymousRecord: createRecordLimit(),
  });
  const cookieKeys = [deriveKey(key, 'cookies')];
  const common = { issuer, cookieKeys, publicKeys: options.publicKeys, accessTokens, adapter, findAccount, onWrongUserCode, log };
  const create = (signingKey: SigningKey) => {
    const provider = createProvider({ ...common, keys: { keys: [toJwk(signingKey)] } });
    return { kid: signingKey.kid, provider, callback: provider.callback() };
  };
  let latest: ReturnType<typeof create> | undefined;
  /** The library reads its keys when it is created. Everything else that it keeps is in the database. */
  const providerOf = (signingKey: SigningKey) => (latest?.kid === signingKey.kid ? latest : (latest = create(signingKey)));
  return { providerOf, records };
}

function toJwk({ kid, key }: SigningKey): JWK {
  return { ...(key.export({ format: 'jwk' }) as JWK), kid, alg: 'ES256', use: 'sig' };
}

function deriveKey(key: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', key, '', `trestle oauth ${purpose}`, 32)).toString('base64url');
}

const STYLE_ETAG = `"${createHash('sha256').update(STYLE).digest('base64url').slice(0, 22)}"`;

function sendStyle(request: IncomingMessage, response: ServerResponse): void {
  const headers = { etag: STYLE_ETAG, 'cache-control': 'public, max-age=3600', 'x-content-type-options': 'nosniff' };
  if (request.headers['if-none-match'] === STYLE_ETAG) response.writeHead(304, headers).end();
  else response.writeHead(200, { ...headers, 'content-type': 'text/css; charset=utf-8' }).end(request.method === 'HEAD' ? '' : STYLE);
}

/**
 * Answers an authorization request by POST (OpenID Connect Core §3.1.2.1) with the redirect to the same request by GET. Browsers send no cookies
 * with `SameSite=Lax` with a form of another site, but with a redirect they do.
 */
async function redirectForm(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const location = `${PATHS.authorization}?${(await readForm(request)).toString()}`;
  response.writeHead(303, { location, 'cache-control': 'no-store' }).end();
}

const RETRY_AFTER_SECONDS = 600;

function refuseGuess(response: ServerResponse): void {
  const description = 'too many wrong codes, try again in ten minutes';
  const headers = { 'retry-after': String(RETRY_AFTER_SECONDS) };
  sendPage(response, { status: 429, html: errorPage({ code: 'slow_down', description }), headers });
}

function sendFailure(response: ServerResponse, error: unknown, log: Log): void {
  if (!(error instanceof FormError)) log.error('oauth request failed', { error });
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const [status, body] =
    error instanceof FormError
      ? [error.status, { error: 'invalid_request', error_description: error.message }]
      : [500, { error: 'server_error', error_description: 'The request failed. Try again later.' }];
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', connection: 'close' });
  response.end(JSON.stringify(body));
}
