/** Executes the subscriptions of RESPONSE_CACHE_SUBSCRIPTIONS_FILE, whose events invalidate results of the cache. */
import type { Registry } from 'prom-client';
import { createEventMetrics } from '../../observability/cache-metrics.ts';
import type { ResponseCache } from '../response-cache.ts';
import { type InvalidatingOptions, InvalidatingSubscription } from './invalidating-subscription.ts';
import type { InvalidatingSubscriptions } from './read-subscriptions.ts';

export interface EventSettings {
  readonly RESPONSE_CACHE_SUBSCRIPTIONS_FILE?: InvalidatingSubscriptions | undefined;
  readonly RESPONSE_CACHE_SUBSCRIPTIONS_AUTHORIZATION?: string | undefined;
}

export interface EventParts extends Pick<InvalidatingOptions, 'engine' | 'log'> {
  readonly cache: ResponseCache | undefined;
  readonly metrics: Registry;
}

/** Begins the subscriptions, if there are any and a cache. Returns the function that ends them. */
export function invalidateByEvents(
  { RESPONSE_CACHE_SUBSCRIPTIONS_FILE: subscriptions, RESPONSE_CACHE_SUBSCRIPTIONS_AUTHORIZATION: authorization }: EventSettings,
  { cache, engine, log, metrics }: EventParts,
): () => void {
  if (!cache || !subscriptions) return () => undefined;
  const options = { subscriptions, authorization, engine, cache, log, metrics: createEventMetrics(metrics) };
  const all = subscriptions.operationNames.map((name) => new InvalidatingSubscription(name, options));
  for (const each of all) each.start();
  return () => {
    for (const each of all) each.stop();
  };
}
