/** Which access tokens hold no longer though their time is not over: kept by everybody who verifies tokens (spec §5.3, ADR 10). No I/O. */
import type { Caller } from './identity.ts';

/** A token of an account, or all that were given to it before this generation: those of lower numbers. */
export type Revocation = { readonly userId: string } & ({ readonly tokenId: string } | { readonly generation: number });

export interface Revocations {
  readonly isRevoked: (caller: Caller) => boolean;
  /** What is known already is told to nobody again. */
  readonly add: (revocation: Revocation) => void;
  /** All that matter still. */
  readonly list: () => Revocation[];
  /** Calls for every one that is added, until what it gives is called. */
  readonly listen: (listener: (revocation: Revocation) => void) => () => void;
  /** As `listen`, for those of one account. */
  readonly listenTo: (userId: string, listener: () => void) => () => void;
}

/** How long one is kept: by then every token that it is about has ended by itself (tokens.ts), also by clocks that differ. */
export const REVOCATION_SECONDS = 20 * 60;

interface Kept {
  readonly revocation: Revocation;
  readonly addedAt: number;
}

/** `now` gives milliseconds. */
export function createRevocations(now: () => number = Date.now): Revocations {
  /** By the id of the token or of the account, which are never the same, in the order in which they came. */
  const kept = new Map<string, Kept>();
  const everybody = new Set<(revocation: Revocation) => void>();
  const byUser = new Map<string, Set<() => void>>();

  const isOld = ({ addedAt }: Kept) => addedAt <= now() - REVOCATION_SECONDS * 1000;
  const forgetOld = () => {
    for (const [name, each] of kept) {
      if (!isOld(each)) break;
      kept.delete(name);
    }
  };
  const find = (name: string): Revocation | undefined => {
    const found = kept.get(name);
    return found && !isOld(found) ? found.revocation : undefined;
  };

  return {
    isRevoked({ userId, tokenId, generation }) {
      if (kept.size === 0) return false;
      const account = find(userId);
      return find(tokenId) !== undefined || (account !== undefined && 'generation' in account && generation < account.generation);
    },
    add(revocation) {
      forgetOld();
      const name = 'tokenId' in revocation ? revocation.tokenId : revocation.userId;
      const before = find(name);
      // They may come twice and in any order: what an account's last one has ended stays ended.
      if (before && !('generation' in before && 'generation' in revocation && before.generation < revocation.generation)) return;
      kept.delete(name);
      kept.set(name, { revocation, addedAt: now() });
      for (const listener of [...everybody]) listener(revocation);
      for (const listener of [...(byUser.get(revocation.userId) ?? [])]) listener();
    },
    list() {
      forgetOld();
      return [...kept.values()].map(({ revocation }) => revocation);
    },
    listen(listener) {
      everybody.add(listener);
      return () => everybody.delete(listener);
    },
    listenTo(userId, listener) {
      const listeners = byUser.get(userId) ?? new Set();
      byUser.set(userId, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byUser.get(userId) === listeners) byUser.delete(userId);
      };
    },
  };
}

/** Reads what another process or the database tells of one; undefined for what is none. */
export function readRevocation(value: unknown): Revocation | undefined {
  const { userId, tokenId, generation } = (value ?? {}) as Record<string, unknown>;
  if (typeof userId === 'string' && typeof tokenId === 'string') return { userId, tokenId };
  if (typeof userId === 'string' && typeof generation === 'number') return { userId, generation };
  return undefined;
}
