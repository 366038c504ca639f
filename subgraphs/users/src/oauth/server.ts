/** The HTTP endpoints of the authorization server, in the process of the users subgraph. Public are they through the bridge only. */
import { createHash, createPrivateKey, createPublicKey, hkdfSync } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Query } from '@trestle/chassis/database/query';
import type { Revocation } from '@trestle/identity/revocations';
import type { TokenIssuer, TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import { clientOf } from '@trestle/service/client-id';
import type { JWK } from 'oidc-provider';
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
import { FormError, setIssuer, withEncodedToken } from './requests.ts';

/** An account as the server reads it. */
export type OAuthAccount = AccountClaims & TokenAccount;

/** What the server is created from. */
export interface OAuthServerOptions {
  /** The public origin of the bridge. */
  readonly issuer: string;
  /** 32 characters or more: signs cookies and forms. */
  readonly key: string;
  /** Signs ID tokens: a P-256 key in PKCS#8 and PEM. */
  readonly privateKeyPem: string;
  readonly query: Query;
  readonly log: Log;
  readonly tokens: TokenIssuer;
  readonly verifier: Pick<TokenVerifier, 'verify'>;
  /** Resolves with an active account; undefined without one. */
  readonly findAccount: (id: string) => Promise<OAuthAccount | undefined>;
  readonly authenticate: InteractionOptions['authenticate'];
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
  const guesses = createGuessLimit();
  const { provider, records } = createParts(options, (request) => {
    guesses.count(clientOf(request));
  });
  const callback = provider.callback();
  const csrfKey = deriveKey(options.key, 'forms');
  const interact = createInteractions({ provider, csrfKey, origin: issuer.origin, authenticate: options.authenticate, findAccount });
  /** Without a session the library fails to send the form again, because the session was never saved. */
  const isNewBrowser = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> =>
    'new' in (await provider.Session.get(provider.createContext(request, response)));
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    setIssuer(request, issuer);
    if (path === STYLE_PATH) sendStyle(request, response);
    else if (path.startsWith(INTERACTION_PATH)) await interact(request, response);
    else if (request.method === 'POST' && path === PATHS.code_verification && !guesses.mayTry(clientOf(request))) refuseGuess(response);
    else if (request.method === 'POST' && path === PATHS.code_verification && (await isNewBrowser(request, response)))
      response.writeHead(303, { location: PATHS.code_verification, 'cache-control': 'no-store' }).end();
    else if (request.method === 'POST' && TOKEN_PATHS.has(path)) await callback(await withEncodedToken(request), response);
    else await callback(request, response);
  };
  return {
    handle: (request, response) => {
      respond(request, response).catch((error: unknown) => {
        sendFailure(response, error, log);
      });
    },
    sweep: () => records.sweep(),
  };
}

/** Where a token of the system's own form is looked up. */
const TOKEN_PATHS: ReadonlySet<string> = new Set([PATHS.revocation, PATHS.introspection]);

function createParts(options: OAuthServerOptions, onWrongUserCode: (request: IncomingMessage) => void) {
  const { issuer, key, log, query, publish, findAccount } = options;
  const records = createRecordStore(query);
  const clients = createClientStore(query);
  const accessTokens = createAccessTokens({
    issuer: options.tokens,
    verifier: options.verifier,
    clients,
    records,
    findAccount,
    async revokeToken(userId, tokenId) {
      await options.revokeToken(userId, tokenId);
      await publish({ userId, tokenId });
    },
  });
  const endGrant = async (sessionId: string) => {
    const userId = await records.endGrant(sessionId);
    if (userId !== undefined) await publish({ userId, sessionId });
  };
  const adapter = createAdapterFactory({ records, clients, accessTokens, endGrant, takeAnonymousRecord: createRecordLimit() });
  const keys = { keys: [toJwk(options.privateKeyPem)] };
  const cookieKeys = [deriveKey(key, 'cookies')];
  const provider = createProvider({ issuer, keys, cookieKeys, accessTokens, adapter, findAccount, onWrongUserCode, log });
  return { provider, records };
}

function toJwk(privateKeyPem: string): JWK {
  const key = createPrivateKey(privateKeyPem);
  const { crv, kty, x, y } = createPublicKey(key).export({ format: 'jwk' });
  // The thumbprint of RFC 7638.
  const kid = createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
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
