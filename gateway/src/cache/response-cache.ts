/**
 * Keeps whole results of queries for as long as `@cacheControl` allows (ADR 35). A mutation of a client invalidates what was kept for that client before,
 * and for all clients what contains the types of its result.
 */
import type { Program } from '../program/program.ts';
import { type CachePolicy, lifetimeOf } from '../request/cache-policy.ts';
import type { CacheReport } from '../request/cache-report.ts';
import type { OperationRequest } from '../request/operation.ts';
import { withoutCredential } from '../request/identity.ts';
import { type CallerSource, hasCredential, toCacheKey, toClientTags, toMutationTags } from './cache-key.ts';
import type { EntityCache } from './entity-cache.ts';
import { type KeptResult, PendingResult, type PendingResultOptions } from './pending-result.ts';
import { ALL_TAG, toTypeTag } from './received-tags.ts';
import type { Refreshes } from './refreshes.ts';
import type { Sharing } from './sharing.ts';
import type { FoundResult, ResultStore } from './result-store.ts';
import type { CachedSubgraphs } from './subgraph-caching.ts';

/** What is kept: whole results, single fetches of queries, or both. */
export const CACHE_CONTENTS = ['results', 'entities', 'both'] as const;
export type CacheContents = (typeof CACHE_CONTENTS)[number];

export interface ResponseCacheOptions {
  readonly store: ResultStore;
  readonly sharing: Sharing;
  /** For how long a result is sent once its time is over, while it is executed again. */
  readonly staleSeconds: number;
  /** Those of single fetches, too. */
  readonly refreshes: Refreshes;
  readonly count: CountOutcome;
  /** Whether whole results are kept. */
  readonly keepsResults: boolean;
  /** Keeps single fetches in the same store; undefined for none. */
  readonly entities: EntityCache | undefined;
  readonly subgraphs: CachedSubgraphs;
  /** Whether queries in flight are shared that an invalidation by another process ends. Default: no. */
  readonly mustNotice?: boolean | undefined;
}

/** Called once for each query that may be cached. */
export type CountOutcome = (outcome: CacheReport['kind']) => void;

/** A query whose result may be cached. */
export interface CacheableQuery {
  readonly request: OperationRequest;
  /** The hash of the supergraph. */
  readonly hash: string;
  /** The variables with the operation's defaults. */
  readonly variables: Readonly<Record<string, unknown>>;
  readonly policy: CachePolicy;
  /** The types of which the result has objects. */
  readonly types: readonly string[];
  /** Called when the query begins to wait for an equal one: its time limit begins. */
  readonly onWait: () => void;
}

/** A result of the cache. Without one the query must be executed: its result is passed to `pending`, unless that is undefined: then it is not kept. */
export type CacheOutcome = CachedResult | { readonly pending: PendingResult | undefined };

export interface CachedResult extends Pick<FoundResult, 'bytes' | 'policy'> {
  readonly report: CacheReport;
  /** What the result of another execution is passed to; undefined unless this one is stale and no other client has it executed again. */
  readonly refresh?: PendingResult | undefined;
}

/** How a mutation has ended. */
export interface MutationEnd {
  /** Undefined for one that has failed: it may have changed something, which concerns its client only. */
  readonly change: Change | undefined;
  /** Whether a subgraph may still execute it, because its response did not arrive. */
  readonly isUnsettled: boolean;
}

/** What a mutation has changed. */
export interface Change {
  readonly types: readonly string[];
  /** Tags that subgraphs have sent; undefined when it is not known which: then everything is invalidated. */
  readonly tags: readonly string[] | undefined;
}

export class ResponseCache {
  readonly #options: ResponseCacheOptions;
  readonly #inFlight = new Map<string, PendingResult>();

  constructor(options: ResponseCacheOptions) {
    this.#options = options;
  }

  /** Returns whether whole results of an operation are kept, as far as its subgraphs are concerned. */
  keepsResult(program: Pick<Program, 'plan'>): boolean {
    return this.#options.keepsResults && this.#options.subgraphs.allow(program);
  }

  /** What is kept of single subgraphs. */
  get subgraphs(): CachedSubgraphs {
    return this.#options.subgraphs;
  }

  /** Keeps single fetches; undefined for none. */
  get entities(): EntityCache | undefined {
    return this.#options.entities;
  }

  /** Calls back once. Of clients that ask for the same at once, one executes, and the others get its result if it may be kept. */
  find(query: CacheableQuery, done: (outcome: CacheOutcome) => void): void {
    const { store, sharing, count } = this.#options;
    const { policy, request, hash, types } = query;
    const { context } = request;
    // The callers of a private result cannot be distinguished.
    if (policy.isPrivate && !hasCredential(context.identity)) {
      count('bypass');
      done({ pending: undefined });
      return;
    }
    const identity = sharing === 'all' && !policy.isPrivate ? withoutCredential(context.identity) : context.identity;
    const key = toCacheKey({ hash, query: request.query, operationName: request.operationName, variables: query.variables, identity });
    store.find({ key, tags: toClientTags(context) }, (lookup) => {
      if (!lookup || lookup.isHeld) {
        count('bypass');
        done({ pending: undefined });
        return;
      }
      const { version, found } = lookup;
      const source = { key, version, policy, tags: [ALL_TAG, ...types.map(toTypeTag)] };
      const isFresh = found && found.ageMs < lifetimeOf(found.policy) * 1000;
      const isExecuted = this.#inFlight.get(key)?.version === version;
      // A stale result is sent only if it is replaced.
      if (!found || (!isFresh && !isExecuted && this.#options.refreshes.isFull)) {
        count('miss');
        this.#await(source, query, done);
        return;
      }
      count('hit');
      done({ ...found, report: toHit(found), refresh: isFresh || isExecuted ? undefined : this.#beginRefresh(source) });
    });
  }

  /**
   * Calls back once, when what other processes have invalidated so far is known here. A query that is not looked for must not share what began before
   * it otherwise. Waits at most for one lookup.
   */
  notice(done: () => void): void {
    const { store, mustNotice = false } = this.#options;
    if (!mustNotice) done();
    else
      store.findAll({ keys: [], tags: [] }, () => {
        done();
      });
  }

  /** Waits for an execution in flight that began after the last invalidation, else lets this one be waited for. */
  #await(source: Source, { request, onWait }: CacheableQuery, done: (outcome: CacheOutcome) => void): void {
    const { store, staleSeconds } = this.#options;
    const known = this.#inFlight.get(source.key);
    if (known?.version !== source.version) {
      done({ pending: this.#begin(source) });
      return;
    }
    const proceed = (kept: KeptResult | undefined) => {
      done(kept ? { ...kept, report: COLLAPSED } : { pending: new PendingResult({ ...source, store, staleSeconds }) });
    };
    const leave = known.join(proceed);
    onWait();
    // Its time limit has passed, or its client has disconnected: an execution ends at once then.
    request.context.cancellation.add({
      abort: () => {
        if (leave()) proceed(undefined);
      },
    });
  }

  #beginRefresh(source: Source): PendingResult {
    return this.#begin(source, this.#options.refreshes.begin([]));
  }

  #begin(source: Source, end?: () => void): PendingResult {
    const { store, staleSeconds } = this.#options;
    const { key } = source;
    const onEnd = (ended: PendingResult) => {
      end?.();
      if (this.#inFlight.get(key) === ended) this.#inFlight.delete(key);
    };
    const pending = new PendingResult({ ...source, store, staleSeconds, onEnd });
    this.#inFlight.set(key, pending);
    return pending;
  }

  /** Notes that a client's mutation has ended, and calls back once, before the client may know it. */
  noteMutation(client: CallerSource, { change, isUnsettled }: MutationEnd, done: () => void): void {
    const { store } = this.#options;
    const own = toMutationTags(client);
    const changed = change ? [...change.types.map(toTypeTag), ...(change.tags ?? [ALL_TAG])] : [];
    if (!isUnsettled) store.invalidate([...own, ...changed], done);
    else
      store.hold(own, () => {
        store.invalidate(changed, done);
      });
  }

  /** Invalidates every result with one of these tags, for all clients. Calls back once, as the store does. */
  invalidate(tags: readonly string[], done: (isShared: boolean) => void): void {
    this.#options.store.invalidate(tags, done);
  }

  close(): void {
    this.#options.store.close();
  }
}

type Source = Pick<PendingResultOptions, 'key' | 'version' | 'policy' | 'tags'>;

const COLLAPSED: CacheReport = { kind: 'miss', isStored: false, isCollapsed: true };

function toHit({ policy, ageMs }: FoundResult): CacheReport {
  const ageSeconds = Math.floor(ageMs / 1000);
  return { kind: 'hit', ageSeconds, ttlSeconds: lifetimeOf(policy) - ageSeconds };
}
