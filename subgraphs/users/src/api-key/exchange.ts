/** The endpoint at which the gateway and the bridge exchange an API key for an access token (RFC 8693). Not reachable from the public network. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { TOKEN_EXCHANGE } from '@trestle/identity/credentials/api-key-exchange';
import { hashApiKey, isApiKey } from '@trestle/identity/credentials/api-keys';
import { isScope } from '@trestle/identity/scopes';
import { ACCESS_TOKEN_SECONDS, type TokenIssuer } from '@trestle/identity/tokens/tokens';
import type { Log } from '@trestle/log';
import { passedClientOf } from '@trestle/service/clients/client-id';
import type { SecondFactors } from '../second-factor/second-factors.ts';
import type { SecurityEventStore } from '../security/store.ts';
import type { ApiKeyStore } from './store.ts';

/** The path of the endpoint. */
export const EXCHANGE_PATH = '/api-keys/exchange';
/** A request has about 250 bytes. */
const MAX_BODY_BYTES = 4096;
const FORM = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** What keys are exchanged with. */
export interface ExchangeOptions {
  readonly apiKeys: Pick<ApiKeyStore, 'use'>;
  readonly securityEvents: Pick<SecurityEventStore, 'record'>;
  readonly tokens: TokenIssuer;
  readonly secondFactors: Pick<SecondFactors, 'restrict'>;
  readonly apiKeySecret: string;
  readonly now: () => number;
  readonly log: Log;
}

/** An issued token (RFC 8693 §2.2.1), and whether its key is accepted in a URL. */
interface IssuedToken {
  readonly access_token: string;
  readonly issued_token_type: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly allowed_in_url: boolean;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

const REFUSED: Reply = {
  status: 400,
  body: { error: 'invalid_request', error_description: 'The subject token is not a valid API key, or the request is malformed.' },
};
const UNAVAILABLE: Reply = { status: 503, body: { error: 'temporarily_unavailable' } };

/** Creates the handler. It answers 400 for a key that is invalid, expired or of an inactive account, and 503 when the database fails. */
export function createExchangeHandler(options: ExchangeOptions): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    handle(options, request)
      .catch((error: unknown) => {
        options.log.error('an API key could not be exchanged', { error });
        return UNAVAILABLE;
      })
      .then((reply) => {
        send(response, reply);
      })
      .catch(() => response.destroy());
  };
}

async function handle(options: ExchangeOptions, request: IncomingMessage): Promise<Reply> {
  if (request.method !== 'POST') return { status: 405, body: { error: 'invalid_request', error_description: 'Use POST.' } };
  const form = FORM.test(request.headers['content-type'] ?? '') ? await readForm(request) : undefined;
  const key = form?.get('subject_token') ?? '';
  const isExchange = form?.get('grant_type') === TOKEN_EXCHANGE.grantType && form.get('subject_token_type') === TOKEN_EXCHANGE.apiKeyType;
  const address = passedClientOf(request)?.address ?? null;
  const issued = isExchange && isApiKey(key) ? await issue(options, { key, address }) : undefined;
  return issued ? { status: 200, body: issued } : REFUSED;
}

interface SentKey {
  readonly key: string;
  /** The truncated address of the client; null when it is not known. */
  readonly address: string | null;
}

/** Issues a token that ends with the key at the latest, and whose session is the key. */
async function issue(options: ExchangeOptions, { key, address }: SentKey): Promise<IssuedToken | undefined> {
  const { apiKeys, securityEvents, tokens, secondFactors, apiKeySecret, now } = options;
  const used = await apiKeys.use(hashApiKey(apiKeySecret, key), address);
  if (!used) return undefined;
  const { id, userId, scopes, expiresAt, isAllowedInUrl, isNews, ...account } = used;
  const secondsLeft = expiresAt ? Math.floor((expiresAt.getTime() - now()) / 1000) : ACCESS_TOKEN_SECONDS;
  if (secondsLeft < 1) return undefined;
  if (isNews) await securityEvents.record({ type: 'API_KEY_USED', userId, subject: id, client: { address, device: null } });
  const { role } = await secondFactors.restrict({ id: userId, role: account.role });
  const { token, expiresInSeconds } = tokens.issue({
    ...account,
    id: userId,
    role,
    sessionId: id,
    scopes: new Set(scopes.filter(isScope)),
    lifetimeSeconds: Math.min(secondsLeft, ACCESS_TOKEN_SECONDS),
  });
  return {
    access_token: token,
    issued_token_type: TOKEN_EXCHANGE.accessTokenType,
    token_type: 'Bearer',
    expires_in: expiresInSeconds,
    allowed_in_url: isAllowedInUrl,
  };
}

/** Returns the form, or undefined when it is too long. Rejects when the client disconnects. */
async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}

function send(response: ServerResponse, { status, body }: Reply): void {
  const content = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'content-length': String(Buffer.byteLength(content)),
    ...(status === 405 && { allow: 'POST' }),
    ...(status === 503 && { 'retry-after': '1' }),
  });
  response.end(content);
}
