/** The revoked access tokens that have not expired yet, kept in memory by every process that verifies tokens (spec §5.3, ADR 10). No I/O. */
import type { Caller } from './identity.ts';

/** Revokes one token of an account, or all of its tokens with a generation lower than `generation`. */
export type Revocation = { readonly userId: string } & ({ readonly tokenId: string } | { readonly generation: number });

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

/** Seconds for which a revocation is kept: the lifetime of a token (tokens.ts) and a tolerance for clocks that differ. */
export const REVOCATION_SECONDS = 20 * 60;

interface Entry {
  readonly revocation: Revocation;
  readonly addedAt: number;
}

/** Creates an empty set of revocations. `now` returns milliseconds since the epoch. */
export function createRevocations(now: () => number = Date.now): Revocations {
  /** Entries by the id of the token or of the account, which never collide; the oldest entry first. */
  const entries = new Map<string, Entry>();
  const subscribers = new Set<(revocation: Revocation) => void>();
  const subscribersByUser = new Map<string, Set<() => void>>();

  const isExpired = ({ addedAt }: Entry) => addedAt <= now() - REVOCATION_SECONDS * 1000;
  const removeExpired = () => {
    for (const [key, entry] of entries) {
      if (!isExpired(entry)) break;
      entries.delete(key);
    }
  };
  const find = (key: string): Revocation | undefined => {
    const entry = entries.get(key);
    return entry && !isExpired(entry) ? entry.revocation : undefined;
  };

  return {
    isRevoked({ userId, tokenId, generation }) {
      if (entries.size === 0) return false;
      const account = find(userId);
      return find(tokenId) !== undefined || (account !== undefined && 'generation' in account && generation < account.generation);
    },
    add(revocation) {
      removeExpired();
      const key = 'tokenId' in revocation ? revocation.tokenId : revocation.userId;
      const known = find(key);
      // Revocations may arrive twice and in any order: a lower generation must not replace a higher one.
      if (known && !('generation' in known && 'generation' in revocation && known.generation < revocation.generation)) return;
      entries.delete(key);
      entries.set(key, { revocation, addedAt: now() });
      for (const subscriber of [...subscribers]) subscriber(revocation);
      for (const subscriber of [...(subscribersByUser.get(revocation.userId) ?? [])]) subscriber();
    },
    list() {
      removeExpired();
      return [...entries.values()].map(({ revocation }) => revocation);
    },
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

/** Parses a revocation from another process or from the database. Returns undefined when the value is not a revocation. */
export function readRevocation(value: unknown): Revocation | undefined {
  const { userId, tokenId, generation } = (value ?? {}) as Record<string, unknown>;
  if (typeof userId === 'string' && typeof tokenId === 'string') return { userId, tokenId };
  if (typeof userId === 'string' && typeof generation === 'number') return { userId, generation };
  return undefined;
}
