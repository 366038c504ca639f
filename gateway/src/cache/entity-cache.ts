/**
 * Keeps the results of single fetches for queries: each entity by its representation, and each result of a fetch at the root (ADR 39). It shares the
 * store of whole results, so that the same invalidations apply.
 */
import type { BodyParts, SendFetch } from '../execute/execute.ts';
import type { FetchStep } from '../program/program.ts';
import type { RequestContext } from '../request/context.ts';
import { withoutCredential } from '../request/identity.ts';
import { digest, hasCredential, toClientTags, withoutName } from './cache-key.ts';
import { CachedFetch } from './cached-fetch.ts';
import type { FetchReport } from '../request/cache-report.ts';
import { ALL_TAG, type ReceivedTags, toTypeTag } from './received-tags.ts';
import type { CountParts, FetchScope, PlannedFetch } from './fetch-scope.ts';
import type { Refreshes } from './refreshes.ts';
import type { Sharing } from './sharing.ts';
import type { ResultStore } from './result-store.ts';
import type { CachedSubgraphs } from './subgraph-caching.ts';

export interface EntityCacheOptions {
  readonly store: ResultStore;
  readonly sharing: Sharing;
  /** For how long a part is used once its time is over, while it is fetched again. */
  readonly staleSeconds: number;
  readonly refreshes: Refreshes;
  readonly count: CountParts;
  readonly subgraphs: CachedSubgraphs;
}

/** One query that is executed. */
export interface CachedQuery {
  readonly context: RequestContext;
  /** The hash of the supergraph. */
  readonly hash: string;
  /** Gets the tags of what is found; undefined when the whole result is not kept. */
  readonly tags: ReceivedTags | undefined;
  /** Whether parts may be used whose time is over: not for what replaces a stale result. */
  readonly mayBeStale: boolean;
  /** Counts what the query has found. */
  readonly report: FetchReport;
  /** Goes on after the store has answered later. */
  readonly resume: (act: () => void) => void;
}

export class EntityCache {
  readonly #options: EntityCacheOptions;
  readonly #planned = new WeakMap<FetchStep, PlannedFetch | null>();

  constructor(options: EntityCacheOptions) {
    this.#options = options;
  }

  /** Returns `send` with the cache before it, for one query. */
  open(query: CachedQuery, send: SendFetch): SendFetch {
    const { store, staleSeconds, refreshes, count } = this.#options;
    const { tags, report, resume } = query;
    const stale = { staleSeconds, mayBeStale: query.mayBeStale && staleSeconds > 0, refreshes };
    return (fetch, done) => {
      const { bodyParts, service, files } = fetch;
      const scope = bodyParts && !files ? this.#toScope(query, { ...bodyParts, service }) : undefined;
      if (bodyParts && scope) new CachedFetch({ store, stale, count, report, scope, fetch, bodyParts, tags, send, resume }, done).start();
      else {
        report.hasOthers = true;
        send(fetch, done);
      }
    };
  }

  /** Returns undefined for a fetch whose result is not kept. */
  #toScope({ context, hash }: CachedQuery, { step, head, service }: BodyParts & { readonly service: string }): FetchScope | undefined {
    const { enabled, ttlSeconds } = this.#options.subgraphs.of(service);
    const planned = enabled ? this.#plan(step) : null;
    const { identity } = context;
    // The callers of a private result cannot be distinguished.
    if (!planned || (planned.isPrivate && !hasCredential(identity))) return undefined;
    const isShared = this.#options.sharing === 'all' && !planned.isPrivate;
    const key = `fetch:${digest(JSON.stringify([hash, service, withoutName(head, step.operationName), isShared ? withoutCredential(identity) : identity]))}`;
    return { key, clientTags: toClientTags(context), planned, ttlSeconds, tags: planned.tags, isOwn: !isShared && hasCredential(identity) };
  }

  #plan(step: FetchStep): PlannedFetch | null {
    let known = this.#planned.get(step);
    if (known === undefined) this.#planned.set(step, (known = toPlanned(step)));
    return known;
  }
}

function toPlanned({ caching }: FetchStep): PlannedFetch | null {
  if (!caching) return null;
  const { maxAge, needsHeader, isPrivate, types } = caching;
  const policy = maxAge === undefined ? undefined : { maxAge, sharedMaxAge: isPrivate ? 0 : maxAge, isPrivate };
  return { policy, needsHeader, isPrivate, tags: [ALL_TAG, ...types.map(toTypeTag)] };
}
