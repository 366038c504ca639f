/** Prometheus metrics of the response cache. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers the metrics and returns the function that counts a query that may be cached. `readBytes` is undefined for a store outside of the process. */
export function createCacheMetrics(registry: Registry, readBytes: (() => number) | undefined): (outcome: string) => void {
  const counts = new Map<string, number>();
  new Counter({
    name: 'trestle_response_cache_queries_total',
    help: 'Queries that may be cached: found in the cache (hit), not found (miss), or the cache could not be used (bypass).',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of counts) this.inc({ outcome }, count);
    },
  });
  if (readBytes)
    new Gauge({
      name: 'trestle_response_cache_bytes',
      help: 'Bytes of the results in memory.',
      registers: [registry],
      collect() {
        this.set(readBytes());
      },
    });
  return (outcome) => counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
}

/** Registers the metric of the entity cache and returns the function that counts entities and results of fetches at the root. */
export function createEntityMetrics(registry: Registry): (outcome: string, parts: number) => void {
  const counts = new Map<string, number>();
  new Counter({
    name: 'trestle_entity_cache_parts_total',
    help: 'Entities and results of root fetches: found in the cache (hit), not found (miss), or the cache could not be used (bypass).',
    labelNames: ['outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [outcome, count] of counts) this.inc({ outcome }, count);
    },
  });
  return (outcome, parts) => counts.set(outcome, (counts.get(outcome) ?? 0) + parts);
}

/** Counts what the response cache receives of subscriptions. */
export interface EventMetrics {
  /** Counts an event of the subscription with this operation name. */
  countEvent(operation: string): void;
  /** Counts a subscription that has begun (1), or that has ended (-1). */
  countOpen(change: 1 | -1): void;
}

/** Registers the metrics of subscriptions that invalidate results. */
export function createEventMetrics(registry: Registry): EventMetrics {
  const events = new Counter({
    name: 'trestle_response_cache_events_total',
    help: 'Events of subscriptions that have invalidated results.',
    labelNames: ['operation'],
    registers: [registry],
  });
  const open = new Gauge({
    name: 'trestle_response_cache_subscriptions',
    help: 'Subscriptions that are open and invalidate results by their events.',
    registers: [registry],
  });
  return {
    countEvent(operation) {
      events.inc({ operation });
    },
    countOpen(change) {
      open.inc(change);
    },
  };
}
