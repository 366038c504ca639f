/** Creates the response cache of a graph by its settings. */
import type { Registry } from 'prom-client';
import { createCacheMetrics } from '../observability/cache-metrics.ts';
import { MemoryStore } from './memory-store.ts';
import { ResponseCache, type Sharing } from './response-cache.ts';

export interface CacheSettings {
  readonly store: 'off' | 'memory';
  /** Of the results in memory. */
  readonly maxBytes: number;
  readonly sharing: Sharing;
}

/** Returns undefined where no results are kept. */
export function createCache(
  { store: kind, maxBytes, sharing }: CacheSettings,
  { metrics }: { readonly metrics: Registry },
): ResponseCache | undefined {
  if (kind === 'off') return undefined;
  const store = new MemoryStore({ maxBytes });
  const count = createCacheMetrics(metrics, () => store.bytes);
  return new ResponseCache({ store, sharing, count });
}
