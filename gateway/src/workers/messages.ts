/** The messages between the primary process and its workers. Requests have an id, which their reply repeats. */
import type { Count } from '@trestle/limits/sliding-windows';

/** A metric as `Registry.getMetricsAsJSON` writes it. */
export type MetricFacts = object;

/** What workers send. */
export type FromWorker =
  | { readonly kind: 'take'; readonly id: number; readonly key: string; readonly limit: number; readonly units: number }
  | { readonly kind: 'refund'; readonly key: string; readonly units: number; readonly slot: number }
  | { readonly kind: 'read metrics'; readonly id: number }
  /** The reply to `collect`: the metrics of each of its registries. */
  | { readonly kind: 'collected'; readonly id: number; readonly metrics: readonly MetricFacts[] };

/** What the primary sends. */
export type FromPrimary =
  | { readonly kind: 'taken'; readonly id: number; readonly count: Count }
  | { readonly kind: 'metrics'; readonly id: number; readonly text: string }
  | { readonly kind: 'collect'; readonly id: number };
