/**
 * Exchanges API keys for access tokens (RFC 8693) at the users subgraph, or at another service that the operator has configured. The gateway and the
 * bridge do it, so that everything behind them gets tokens only.
 */
import { type Fault, fail, toFault } from '@trestle/schema/errors';
import { Counter, type Registry } from 'prom-client';
import { Pool as UndiciPool } from '@trestle/http-client/undici';
import type { Pool } from 'undici';
import { isApiKey } from './api-keys.ts';
import type { Credential } from './credential.ts';
import type { TokenVerifier } from '../verification/token-verifier.ts';

/** How long a token is reused for further requests with its key: changes of a key apply after this time, its revocation at once. */
const REUSE_MS = 60_000;
/** A token with less time left is not used, because it may expire before the request ends. */
const MIN_LEFT_MS = 30_000;
/** How long a key that was refused is refused without another request. A new key is random, so that nobody has sent it before. */
const REFUSAL_MS = 10_000;
/** How long a token that is kept is used without another attempt after the endpoint could not be reached. */
const RETRY_MS = 1000;
/** Bounds what an exchange keeps and does at the same time. */
export interface ExchangeLimits {
  /** Keys with a token, and as many that were refused; beyond, the oldest are forgotten. */
  readonly maxKeys: number;
  /** Exchanges in flight; beyond, further keys are refused with SERVICE_UNAVAILABLE. */
  readonly maxInFlight: number;
}

const LIMITS: ExchangeLimits = { maxKeys: 10_000, maxInFlight: 1000 };
const NOTHING = () => undefined;
const CONNECTIONS = 8;
const TIMEOUT_MS = 3000;
const MAX_RESPONSE_BYTES = 64 * 1024;

/** The parameters of a token exchange (RFC 8693 §2.1). */
export const TOKEN_EXCHANGE = {
  grantType: 'urn:ietf:params:oauth:grant-type:token-exchange',
  accessTokenType: 'urn:ietf:params:oauth:token-type:access_token',
  /** RFC 8693 §3 has no type for an API key. */
  apiKeyType: 'urn:trestle:params:token-type:api-key',
} as const;

/** A value, or the promise of one: most callers have it at once. */
export type Awaitable<T> = T | Promise<T>;

/** The client that sent a key. */
export interface KeySender {
  /** Name and value of the header that passes the client on to the users subgraph, for the audit trail; none when it is not known. */
  readonly headers: readonly string[];
  /**
   * Takes one of the checks of keys that the client has in a minute. The returned function gives it back, which happens for every key that is not
   * invalid. Throws RATE_LIMIT_EXCEEDED when none is left.
   */
  readonly reserve: () => () => void;
}

/** Exchanges API keys. */
export interface ApiKeyExchange {
  /**
   * Returns an access token of the key's account, at once when one is known. Throws, or rejects with, UNAUTHORIZED for a key that is
   * invalid, expired, revoked or not allowed in a URL, RATE_LIMIT_EXCEEDED for a key that is not known when its client has no requests
   * left, and SERVICE_UNAVAILABLE when the endpoint cannot be reached.
   */
  tokenFor(credential: Pick<Credential, 'value' | 'isInUrl'>, sender: KeySender): Awaitable<string>;
  /** Closes all connections. */
  close(): Promise<void>;
}

/** Configures an exchange. */
export interface ApiKeyExchangeOptions {
  /** The endpoint that exchanges keys, such as that of the users subgraph. */
  readonly url: string;
  /** Returns whether a key can be one; others are refused without a request. Default: the form of our own keys, with their checksum. */
  readonly isKey?: (key: string) => boolean;
  /** Decides whether a token that is kept is still valid. */
  readonly verifier: Pick<TokenVerifier, 'verify'>;
  /** Registry of the metric `trestle_api_key_exchanges_total`. */
  readonly metrics: Registry;
  /** Returns milliseconds since any moment; must never go back. `performance.now` by default. */
  readonly now?: () => number;
  /** 10,000 keys and 1,000 exchanges in flight by default. */
  readonly limits?: ExchangeLimits;
}

/** A token that was issued for a key. */
interface KnownKey {
  readonly token: string;
  readonly isAllowedInUrl: boolean;
  readonly reusableUntil: number;
  readonly usableUntil: number;
}

type Outcome = 'issued' | 'refused' | 'unavailable';

const MAX_KEY_LENGTH = 512;

/** Returns whether a string can be an API key of another system than Trestle, of which only the length is limited here. */
export function isForeignKey(key: string): boolean {
  return key.length > 0 && key.length <= MAX_KEY_LENGTH;
}

/** Creates an exchange. It opens connections when it needs them. */
export function createApiKeyExchange(options: ApiKeyExchangeOptions): ApiKeyExchange {
  return new Exchange(options);
}

class Exchange implements ApiKeyExchange {
  readonly #options: ApiKeyExchangeOptions;
  readonly #now: () => number;
  readonly #isKey: (key: string) => boolean;
  readonly #limits: ExchangeLimits;
  readonly #pool: Pool;
  readonly #path: string;
  readonly #outcomes: Counter<'outcome'>;
  /** By key, the oldest first. */
  readonly #known = new Map<string, KnownKey>();
  /** Until when a key is refused, the oldest first. */
  readonly #refused = new Map<string, number>();
  readonly #inFlight = new Map<string, Promise<KnownKey>>();

  constructor(options: ApiKeyExchangeOptions) {
    const { origin, pathname } = new URL(options.url);
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#isKey = options.isKey ?? isApiKey;
    this.#limits = options.limits ?? LIMITS;
    this.#path = pathname;
    this.#pool = new UndiciPool(origin, {
      connections: CONNECTIONS,
      connect: { timeout: TIMEOUT_MS },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      maxResponseSize: MAX_RESPONSE_BYTES,
    });
    this.#outcomes = new Counter({
      name: 'trestle_api_key_exchanges_total',
      help: 'API keys that were sent to their exchange for an access token, by outcome: issued, refused or unavailable.',
      labelNames: ['outcome'],
      registers: [options.metrics],
    });
  }

  tokenFor({ value: key, isInUrl }: Pick<Credential, 'value' | 'isInUrl'>, { headers, reserve }: KeySender): Awaitable<string> {
    if (!this.#isKey(key)) throw invalidKey();
    const known = this.#findUsable(key);
    if (known && known.reusableUntil > this.#now()) return toToken(known, isInUrl);
    if ((this.#refused.get(key) ?? 0) > this.#now()) throw invalidKey();
    // Anybody can invent keys with a correct checksum: each client may have so many of them checked in a minute as it may send requests.
    const release = known ? NOTHING : reserve();
    return this.#exchangeOnce(key, headers).then(
      (issued) => {
        release();
        return toToken(issued, isInUrl);
      },
      (error: unknown) => {
        if (toFault(error).code !== 'UNAUTHORIZED') release();
        throw error;
      },
    );
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }

  /** Returns the token that is kept for a key, unless it was revoked or is about to expire. */
  #findUsable(key: string): KnownKey | undefined {
    const known = this.#known.get(key);
    if (!known) return undefined;
    try {
      if (known.usableUntil <= this.#now()) throw invalidKey();
      this.#options.verifier.verify(known.token);
      return known;
    } catch {
      this.#known.delete(key);
      return undefined;
    }
  }

  /** Requests that arrive with one key at the same time wait for one exchange. */
  #exchangeOnce(key: string, headers: readonly string[]): Promise<KnownKey> {
    const current = this.#inFlight.get(key);
    if (current) return current;
    if (this.#inFlight.size >= this.#limits.maxInFlight) return Promise.reject(unavailable());
    const exchange = this.#exchange(key, headers).finally(() => this.#inFlight.delete(key));
    this.#inFlight.set(key, exchange);
    return exchange;
  }

  async #exchange(key: string, headers: readonly string[]): Promise<KnownKey> {
    let result: KnownKey | 'refused';
    try {
      result = await this.#request(key, headers);
    } catch (cause) {
      this.#count('unavailable');
      // While the endpoint cannot be reached, the token that is kept is valid as long as any other token.
      const kept = this.#findUsable(key);
      if (kept) {
        this.#keep(this.#known, key, { ...kept, reusableUntil: this.#now() + RETRY_MS });
        return kept;
      }
      throw unavailable(cause);
    }
    if (result === 'refused') {
      this.#count('refused');
      this.#known.delete(key);
      this.#keep(this.#refused, key, this.#now() + REFUSAL_MS);
      throw invalidKey();
    }
    this.#count('issued');
    this.#keep(this.#known, key, result);
    return result;
  }

  /** Sends one request. Rejects when there is no answer that says whether the key is valid. */
  async #request(key: string, sent: readonly string[]): Promise<KnownKey | 'refused'> {
    const startedAt = this.#now();
    const { statusCode, body } = await this.#pool.request({
      method: 'POST',
      path: this.#path,
      headers: ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json', ...sent],
      body: new URLSearchParams({
        grant_type: TOKEN_EXCHANGE.grantType,
        subject_token: key,
        subject_token_type: TOKEN_EXCHANGE.apiKeyType,
      }).toString(),
    });
    const reply = (await body.json()) as Readonly<Record<string, unknown>> | null;
    if (statusCode === 400 && reply?.['error'] === 'invalid_request') return 'refused';
    const { access_token: token, expires_in: seconds, allowed_in_url: isAllowedInUrl } = reply ?? {};
    if (statusCode !== 200 || typeof token !== 'string' || typeof seconds !== 'number')
      throw new Error(`The exchange of an API key was answered with status ${String(statusCode)}`);
    return {
      token,
      isAllowedInUrl: isAllowedInUrl === true,
      reusableUntil: startedAt + REUSE_MS,
      usableUntil: startedAt + Math.max(seconds * 1000 - MIN_LEFT_MS, 0),
    };
  }

  /** Sets an entry, as the newest one, and removes the oldest when there are too many. */
  #keep<Value>(entries: Map<string, Value>, key: string, value: Value): void {
    entries.delete(key);
    if (entries.size >= this.#limits.maxKeys) entries.delete(entries.keys().next().value ?? '');
    entries.set(key, value);
  }

  #count(outcome: Outcome): void {
    this.#outcomes.inc({ outcome });
  }
}

function toToken({ token, isAllowedInUrl }: KnownKey, isInUrl: boolean): string {
  if (isInUrl && !isAllowedInUrl)
    throw fail('UNAUTHORIZED', 'The API key is not allowed in a URL. Send it in the header X-API-Key, or allow it in the URL.', {
      isInvalidCredential: true,
    });
  return token;
}

function invalidKey(): Fault {
  return fail('UNAUTHORIZED', 'The API key is invalid, expired or revoked.', { isInvalidCredential: true });
}

function unavailable(cause?: unknown): Fault {
  return fail('SERVICE_UNAVAILABLE', 'The API key cannot be checked at the moment. Retry after 1 second.', { cause, retryAfterSeconds: 1 });
}
