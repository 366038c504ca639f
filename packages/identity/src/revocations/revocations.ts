/** The revoked access tokens that have not expired yet, kept in memory by every process that verifies tokens (spec §5.3, ADR 10). No I/O. */
import type { Caller } from '../identity.ts';

/** Revokes one token of an account, the tokens of one of its sessions, or all of its tokens with a generation lower than `generation`. */
export type Revocation = { readonly userId: string } & (
  { readonly tokenId: string } | { readonly sessionId: string } | { readonly generation: number }
);

/** Holds the revocations that a process knows. */
export interface Revocations {
  /** Returns whether the token of the caller is revoked. */
  readonly isRevoked: (caller: Caller) => boolean;
  /** Adds a revocation and calls the subscribers. Does nothing when it is known already, or superseded by a higher generation. */
  readonly add: (revocation: Revocation) => void;
  /** Returns the revocations that are kept. */
  readonly list: () => Revocation[];
  /** Calls `subscriber` with each revocation that is added from now on. Returns a function that ends the subscription. */
  readonly subscribe: (subscriber: (revocation: Revocation) => void) => () => void;
  /** Calls `subscriber` for each revocation of one account that is added from now on. Returns a function that ends the subscription. */
  readonly subscribeToUser: (userId: string, subscriber: () => void) => () => void;
}

/** Seconds for which a revocation of tokens of ours is kept: longer than any of them lives, with a tolerance for clocks that differ. */
export const REVOCATION_SECONDS = 65 * 60;
/** What the ids of callers of other issuers contain, and those of our accounts never do (foreign-tokens.ts). */
const FOREIGN_MARK = ':';
/** Matches these ids in SQL, by LIKE. */
export const FOREIGN_USER_PATTERN = `%${FOREIGN_MARK}%`;

/** Configures what is kept, and for how long. */
export interface RevocationsOptions {
  /**
   * Returns milliseconds since any moment; must never go back, nor jump ahead: a revocation that is forgotten too early is one of a token that is
   * accepted again. `performance.now` by default.
   */
  readonly now?: () => number;
  /** For how many seconds revocations of tokens of other issuers are kept; those of ours are kept for 65 minutes, which is the default. */
  readonly foreignSeconds?: number;
}

interface Entry {
  readonly revocation: Revocation;
  readonly addedAt: number;
}

const monotonicNow = () => performance.now();

/** Creates an empty set of revocations. */
export function createRevocations({ now = monotonicNow, foreignSeconds = REVOCATION_SECONDS }: RevocationsOptions = {}): Revocations {
  const own = new RevocationEntries(now, REVOCATION_SECONDS);
  // Apart, because the tokens of other issuers may live longer by far, and most revocations are of ours.
  const foreign = new RevocationEntries(now, foreignSeconds);
  const entriesOf = ({ userId }: { readonly userId: string }) => (userId.includes(FOREIGN_MARK) ? foreign : own);
  const subscribers = new Set<(revocation: Revocation) => void>();
  const subscribersByUser = new Map<string, Set<() => void>>();

  return {
    isRevoked: (caller) => entriesOf(caller).match(caller),
    add(revocation) {
      if (!entriesOf(revocation).add(revocation)) return;
      for (const subscriber of [...subscribers]) subscriber(revocation);
      for (const subscriber of [...(subscribersByUser.get(revocation.userId) ?? [])]) subscriber();
    },
    list: () => [...own.list(), ...foreign.list()],
    subscribe(subscriber) {
      subscribers.add(subscriber);
      return () => subscribers.delete(subscriber);
    },
    subscribeToUser(userId, subscriber) {
      const ofUser = subscribersByUser.get(userId) ?? new Set();
      subscribersByUser.set(userId, ofUser.add(subscriber));
      return () => {
        ofUser.delete(subscriber);
        if (ofUser.size === 0 && subscribersByUser.get(userId) === ofUser) subscribersByUser.delete(userId);
      };
    },
  };
}

/**
 * The entries by what they revoke, the oldest first. Each kind has a map of its own, because another issuer chooses the ids of its tokens:
 * one that equals the id of an account or a session must not hide its revocation.
 */
class RevocationEntries {
  readonly #now: () => number;
  readonly #keptMs: number;
  readonly #byToken = new Map<string, Entry>();
  readonly #bySession = new Map<string, Entry>();
  readonly #byUser = new Map<string, Entry>();

  constructor(now: () => number, keptSeconds: number) {
    this.#now = now;
    this.#keptMs = keptSeconds * 1000;
  }

  match({ userId, tokenId, sessionId, generation }: Caller): boolean {
    const account = this.#byUser.size > 0 ? this.#find(this.#byUser, userId) : undefined;
    return (
      (account !== undefined && 'generation' in account && generation < account.generation) ||
      (this.#byToken.size > 0 && this.#find(this.#byToken, keyOf(userId, tokenId))?.userId === userId) ||
      (sessionId !== null && this.#bySession.size > 0 && this.#find(this.#bySession, keyOf(userId, sessionId))?.userId === userId)
    );
  }

  /** Returns whether the revocation is new. Revocations may arrive twice and in any order: a lower generation must not replace a higher one. */
  add(revocation: Revocation): boolean {
    this.#removeExpired();
    const [entries, key] = this.#place(revocation);
    const known = this.#find(entries, key);
    if (known && !('generation' in known && 'generation' in revocation && known.generation < revocation.generation)) return false;
    entries.delete(key);
    entries.set(key, { revocation, addedAt: this.#now() });
    return true;
  }

  list(): Revocation[] {
    this.#removeExpired();
    return [this.#byUser, this.#bySession, this.#byToken].flatMap((entries) => [...entries.values()].map(({ revocation }) => revocation));
  }

  #place(revocation: Revocation): [Map<string, Entry>, string] {
    if ('tokenId' in revocation) return [this.#byToken, keyOf(revocation.userId, revocation.tokenId)];
    if ('sessionId' in revocation) return [this.#bySession, keyOf(revocation.userId, revocation.sessionId)];
    return [this.#byUser, revocation.userId];
  }

  #find(entries: ReadonlyMap<string, Entry>, key: string): Revocation | undefined {
    const entry = entries.get(key);
    return entry && !this.#isExpired(entry) ? entry.revocation : undefined;
  }

  #isExpired({ addedAt }: Entry): boolean {
    return addedAt <= this.#now() - this.#keptMs;
  }

  #removeExpired(): void {
    for (const entries of [this.#byToken, this.#bySession, this.#byUser])
      for (const [key, entry] of entries) {
        if (!this.#isExpired(entry)) break;
        entries.delete(key);
      }
  }
}

/** A revocation of one account must not hide that of another one whose token or session has the same id. */
function keyOf(userId: string, id: string): string {
  return `${userId}\0${id}`;
}

/** Parses a revocation from another process or from the database. Returns undefined when the value is not a revocation. */
export function readRevocation(value: unknown): Revocation | undefined {
  const { userId, tokenId, sessionId, generation } = (value ?? {}) as Record<string, unknown>;
  if (typeof userId !== 'string') return undefined;
  if (typeof tokenId === 'string') return { userId, tokenId };
  if (typeof sessionId === 'string') return { userId, sessionId };
  return typeof generation === 'number' ? { userId, generation } : undefined;
}
