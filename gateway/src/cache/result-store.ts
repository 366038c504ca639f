/** Where results of queries are kept, whichever store it is: in the memory of the process or in Redis. Types only. */
import type { CachePolicy } from '../request/cache-policy.ts';

/** For how long and for whom a result is kept. */
export interface KeptPolicy extends CachePolicy {
  /** For how long and by whom what is made of it may be cached, where header rules say so. */
  readonly returned?: CachePolicy | undefined;
}

/** A result that is to be kept. */
export interface StoredResult {
  /** The execution result as JSON; nothing changes it. */
  readonly bytes: Buffer;
  readonly policy: KeptPolicy;
  /** What it is invalidated by. */
  readonly tags: readonly string[];
  /** {@link Lookup.version} of the lookup before its execution. */
  readonly version: number;
  /** The lowest {@link version} of what it is made of, itself included: invalidations of a client's own tags count from here. */
  readonly partsVersion: number;
  /** How old it is already: the time of its execution. */
  readonly ageMs: number;
  /** For how long it is kept, counted from its execution. */
  readonly keptMs: number;
}

/** A result that was kept. */
export type FoundResult = Pick<StoredResult, 'bytes' | 'policy' | 'ageMs' | 'tags' | 'partsVersion'>;

/** The results of several keys, in their order. */
export interface ManyFound extends Pick<Lookup, 'version' | 'isHeld'> {
  readonly found: readonly (FoundResult | undefined)[];
}

export interface Lookup {
  /** Increases with each invalidation. A result is valid as long as none of its tags is invalidated after the lookup before its execution. */
  readonly version: number;
  /** Whether one of the tags of the lookup is held: nothing is found then, and nothing may be stored either. */
  readonly isHeld: boolean;
  readonly found: FoundResult | undefined;
}

/** What is looked for. */
export interface Wanted {
  readonly key: string;
  /** Invalidations of these tags count beside those of the result's own tags, since {@link StoredResult.partsVersion}. */
  readonly tags: readonly string[];
}

/** Several results that are looked for at once. */
export interface ManyWanted extends Pick<Wanted, 'tags'> {
  readonly keys: readonly string[];
}

/**
 * Keeps results within a bound of bytes. An invalidation deletes nothing, but increases the version of its tags: a result whose execution began before is
 * then invalid, also when it is stored afterwards.
 */
export interface ResultStore {
  /** Calls back once, with undefined when the store cannot be used; then nothing may be stored either. */
  find(wanted: Wanted, done: (lookup: Lookup | undefined) => void): void;
  /** The same for several keys at once. */
  findAll(wanted: ManyWanted, done: (lookup: ManyFound | undefined) => void): void;
  /**
   * Keeps a result, unless a newer one is kept under the key. Does not wait, and reports no failure. Returns false for one that is not kept, because it
   * is too large, or, as far as this process knows, invalid or older.
   */
  put(key: string, result: StoredResult): boolean;
  /**
   * Invalidates every result with one of these tags. Calls back once, when no later lookup of this process finds one, with whether the same is true of all
   * processes that share the store. If it is not, the store tries again.
   */
  invalidate(tags: readonly string[], done: (isShared: boolean) => void): void;
  /**
   * Invalidates tags of a client now, and once more after {@link HOLD_MS}. Meanwhile lookups with one of these tags find nothing. Calls back as
   * {@link invalidate} does.
   */
  hold(tags: readonly string[], done: (isShared: boolean) => void): void;
  close(): void;
}

/** The largest result that is kept, in bytes. */
export const MAX_RESULT_BYTES = 1024 * 1024;

/** For how long a subgraph may execute a mutation that has no response, as far as its client's results are concerned. */
export const HOLD_MS = 60_000;

/** The most tags whose invalidation is remembered; beyond that, results that are older than the forgotten ones are invalid. */
export const MAX_REMEMBERED_TAGS = 10_000;
