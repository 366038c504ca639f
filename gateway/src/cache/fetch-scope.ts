/** What a fetch is kept by, and for how long. Types only. */
import type { CachePolicy } from '../request/cache-policy.ts';

/** Called with how many entities and results of root fetches were found (`hit`), or were not (`miss`), or could not be looked for (`bypass`). */
export type CountParts = (outcome: 'hit' | 'miss' | 'bypass', parts: number) => void;

/** What the schema says about a fetch. */
export interface PlannedFetch {
  /** Undefined where the schema leaves it to the subgraph alone. */
  readonly policy: CachePolicy | undefined;
  /** Whether the subgraph must allow it, too. */
  readonly needsHeader: boolean;
  readonly isPrivate: boolean;
  /** The tags of its parts, beside those that its subgraph sends. */
  readonly tags: readonly string[];
}

/** What a fetch is kept by. */
export interface FetchScope extends Pick<PlannedFetch, 'tags'> {
  /** The beginning of its keys. */
  readonly key: string;
  /** The tags of the client that asks. */
  readonly clientTags: readonly string[];
  readonly planned: PlannedFetch;
  /** How long it is kept where neither the schema nor the subgraph has a time; 0 for not at all. */
  readonly ttlSeconds: number;
  /** Whether only clients with the same credential find it. */
  readonly isOwn: boolean;
}
