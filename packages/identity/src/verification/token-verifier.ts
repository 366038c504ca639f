/** Verifies access tokens, ours and those of other issuers, and watches how long they stay valid (spec §5.3, RFC 8725). */
import type { ForeignTokens } from './foreign-tokens.ts';
import type { Caller } from '../identity.ts';
import { type KeySource, createFixedKeys } from '../tokens/key-source.ts';
import { CLOCK_TOLERANCE_SECONDS, ISSUER, readOwnToken } from '../tokens/own-tokens.ts';
import { type Revocations, createRevocations } from '../revocations/revocations.ts';
import { type KeyName, SigningKeys } from './signing-keys.ts';
import { TokenCache } from './token-cache.ts';
import { parseToken, unauthorized } from '../tokens/token-format.ts';

/** Longest delay of a Node.js timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Verifies access tokens. */
export interface TokenVerifier {
  /** Returns the caller that a token identifies. Throws UNAUTHORIZED when the token is invalid, expired or revoked. */
  verify(token: string): Caller;
  /**
   * Verifies a token as `verify` does, but waits, for 2 s at most, while the key of another issuer that the token names is being loaded: an
   * issuer may sign with a new key at once. Returns a promise only where it waits.
   */
  verifyOrWait(token: string): Caller | Promise<Caller>;
  /**
   * Returns whether the token of a verified caller has neither expired nor been revoked. For streams and sockets, which outlive the verification; that
   * its key was removed only `watch` notices.
   */
  isValid(caller: Caller): boolean;
  /**
   * Calls `onInvalid` once, when the token expires or is revoked, or its issuer has removed the key that signed it; never before `watch` has
   * returned. Returns a function that stops watching.
   */
  watch(caller: Caller, onInvalid: () => void): () => void;
}

/** Configures a token verifier. */
export type TokenVerifierOptions = ({ readonly keys: Pick<KeySource, 'find' | 'onChange'> } | { readonly publicKeyPem: string }) & {
  /** Verifies the tokens of other issuers; none are accepted by default. */
  readonly foreign?: Pick<ForeignTokens, 'read' | 'findKey' | 'waitForKey' | 'onChange'> | undefined;
  /** Revoked tokens; none by default. */
  readonly revocations?: Revocations;
  /** Returns milliseconds since the epoch; `Date.now` by default. */
  readonly now?: () => number;
};

/**
 * Creates a verifier. It caches the tokens that it has verified, until keys change, and checks expiry and revocation on every call.
 * `publicKeyPem` is a P-256 key in SPKI. Throws when the key is of another kind.
 */
export function createTokenVerifier(options: TokenVerifierOptions): TokenVerifier {
  const { foreign, revocations = createRevocations(), now = Date.now } = options;
  const keys = 'keys' in options ? options.keys : createFixedKeys(options.publicKeyPem);
  const { isRevoked, subscribeToUser } = revocations;
  const verified = new TokenCache();
  const find: KeySource['find'] = (kid, algorithm) => keys.find(kid, algorithm);
  const signingKeys = new SigningKeys((name: KeyName) =>
    name.issuer === ISSUER ? keys.find(name.kid, name.algorithm) : foreign?.findKey(name),
  );
  /** Check the keys of those tokens that are watched. */
  const keyChecks = new Set<() => void>();
  for (const source of [keys, foreign])
    source?.onChange(() => {
      verified.clear();
      for (const checkKey of keyChecks) checkKey();
    });
  const millisecondsLeft = ({ expiresAt, toleranceSeconds = CLOCK_TOLERANCE_SECONDS }: Caller) =>
    (expiresAt + toleranceSeconds) * 1000 - now();
  const isValid = (caller: Caller) => millisecondsLeft(caller) > 0 && !isRevoked(caller);
  const read = (token: string) => {
    const parsed = parseToken(token);
    const caller = parsed.payload['iss'] === ISSUER ? readOwnToken(parsed, { find, now }) : foreign?.read(parsed);
    if (!caller) throw unauthorized();
    signingKeys.note(caller, parsed);
    return caller;
  };
  const verify = createVerify({ read, isValid, verified });
  return {
    isValid,
    watch: createWatch({ isValid, millisecondsLeft, signingKeys, keyChecks, subscribeToUser }),
    verify,
    verifyOrWait: createWaiting(verify, foreign),
  };
}

interface WatchParts extends Pick<Revocations, 'subscribeToUser'> {
  readonly isValid: (caller: Caller) => boolean;
  readonly millisecondsLeft: (caller: Caller) => number;
  readonly signingKeys: SigningKeys;
  /** Called after each change of keys. */
  readonly keyChecks: Set<() => void>;
}

function createWatch({ isValid, millisecondsLeft, signingKeys, keyChecks, subscribeToUser }: WatchParts): TokenVerifier['watch'] {
  const isInForce = (caller: Caller) => isValid(caller) && signingKeys.isInForce(caller);
  return (caller, onInvalid) => {
    let timer: NodeJS.Timeout;
    let isStopped = false;
    const stop = () => {
      isStopped = true;
      clearTimeout(timer);
      keyChecks.delete(checkKey);
      unsubscribe();
    };
    const end = () => {
      stop();
      onInvalid();
    };
    const check = () => {
      clearTimeout(timer);
      if (isStopped) return;
      if (isInForce(caller)) wait();
      else end();
    };
    const checkKey = () => {
      if (!isStopped && !signingKeys.isInForce(caller)) end();
    };
    const wait = () => {
      // The token may have become invalid since it was verified.
      const leftMs = isInForce(caller) ? millisecondsLeft(caller) + 1 : 0;
      timer = setTimeout(check, Math.min(leftMs, MAX_TIMER_MS)).unref();
    };
    const unsubscribe = subscribeToUser(caller.userId, check);
    keyChecks.add(checkKey);
    wait();
    return stop;
  };
}

interface VerifyParts {
  readonly read: (token: string) => Caller;
  readonly isValid: (caller: Caller) => boolean;
  readonly verified: TokenCache;
}

function createVerify({ read, isValid, verified }: VerifyParts): TokenVerifier['verify'] {
  return (token) => {
    let caller = verified.get(token);
    if (!caller) {
      caller = read(token);
      verified.set(token, caller);
    }
    if (!isValid(caller)) {
      verified.delete(token);
      throw unauthorized();
    }
    return caller;
  };
}

function createWaiting(verify: TokenVerifier['verify'], foreign: TokenVerifierOptions['foreign']): TokenVerifier['verifyOrWait'] {
  return (token) => {
    try {
      return verify(token);
    } catch (error) {
      const arrival = foreign?.waitForKey(parseToken(token));
      if (!arrival) throw error;
      return arrival.then(() => verify(token));
    }
  };
}
