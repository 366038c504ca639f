/** Creates the response cache of a graph by its settings. */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import { createCacheMetrics, createEntityMetrics } from '../observability/cache-metrics.ts';
import { MemoryStore } from './memory-store.ts';
import { NoticingStore } from './noticing-store.ts';
import { EntityCache } from './entity-cache.ts';
import { Refreshes } from './refreshes.ts';
import { type CacheContents, ResponseCache } from './response-cache.ts';
import type { ResultStore } from './result-store.ts';
import type { Sharing } from './sharing.ts';
import { CachedSubgraphs, type CachingSettings } from './subgraph-caching.ts';

/** Where results are kept. */
export const CACHE_STORES = ['off', 'memory', 'redis'] as const;

export interface CacheSettings {
  readonly store: (typeof CACHE_STORES)[number];
  readonly contents: CacheContents;
  /** Of the results in memory. */
  readonly maxBytes: number;
  readonly sharing: Sharing;
  /** For how long a result is sent once its time is over, while it is executed again. */
  readonly staleSeconds: number;
  /** Required for the store redis. */
  readonly redisUrl: string | undefined;
  /** The time limit of a command of Redis. */
  readonly timeoutMs: number;
  /** Default: all are kept, without a time of their own. */
  readonly subgraphs: CachingSettings | undefined;
}

export interface CacheParts {
  /** The name of the graph, if there are several. */
  readonly graph: string | undefined;
  /** Called when results may have become invalid, before a query can notice; undefined where no queries in flight are shared. */
  readonly onInvalidated: (() => void) | undefined;
  readonly log: Log;
  readonly metrics: Registry;
}

/** Resolves with undefined where no results are kept, else when it turned out whether the store can be used; never rejects. */
export async function createCache(
  settings: CacheSettings,
  { graph = '', onInvalidated, log, metrics }: CacheParts,
): Promise<ResponseCache | undefined> {
  const { store: kind, maxBytes, redisUrl: url = '', timeoutMs } = settings;
  if (kind === 'off') return undefined;
  if (kind === 'memory') {
    const store = new MemoryStore({ maxBytes });
    return assemble(settings, { store, onInvalidated, metrics, readBytes: () => store.bytes });
  }
  const { RedisStore } = await import('./redis-store.ts');
  const store = new RedisStore({ url, log, keyPrefix: `trestle:cache:${graph}:`, timeoutMs });
  await store.settled;
  return assemble(settings, { store, onInvalidated, metrics, readBytes: undefined });
}

interface Parts extends Pick<CacheParts, 'onInvalidated' | 'metrics'> {
  readonly store: ResultStore;
  readonly readBytes: (() => number) | undefined;
}

function assemble(
  { store: kind, contents, sharing, staleSeconds, subgraphs: caching }: CacheSettings,
  { store: plain, onInvalidated, metrics, readBytes }: Parts,
): ResponseCache {
  const store = onInvalidated ? new NoticingStore(plain, onInvalidated) : plain;
  // No other process has results of a store in memory.
  const mustNotice = onInvalidated !== undefined && kind === 'redis';
  const subgraphs = new CachedSubgraphs(caching);
  const count = createCacheMetrics(metrics, readBytes);
  const shared = { store, sharing, staleSeconds, subgraphs, refreshes: new Refreshes() };
  const entities = contents === 'results' ? undefined : new EntityCache({ ...shared, count: createEntityMetrics(metrics) });
  const keepsResults = contents !== 'entities';
  return new ResponseCache({ ...shared, count, keepsResults, entities, mustNotice });
}
