/** Prometheus metrics of requests: by status and operation name, and the cache of prepared operations (contract §1). */
import { createHistogram, type HistogramSeries } from '@trestle/service/probes/histogram';
import type { SpanIds } from '@trestle/telemetry';
import { Counter, Gauge, type Registry } from 'prom-client';

/** Clients choose operation names: at most this many have their own label, the others are `other`. */
const MAX_NAMES = 100;
/** Longer names are `other`. Names are ASCII, so this bounds their bytes too. */
const MAX_NAME_LENGTH = 100;

export interface RequestMetrics {
  readonly begin: () => void;
  /** Called once for each request: when its response is written, or when its stream begins. */
  readonly end: (request: MeasuredRequest) => void;
}

export interface MeasuredRequest {
  readonly status: number;
  readonly seconds: number;
  readonly operation: string | undefined;
  /** The request's span, when it is exported. */
  readonly span?: SpanIds | undefined;
}

/** Registers the metrics of requests and returns the functions that feed them. */
export function createRequestMetrics(registry: Registry): RequestMetrics {
  let inFlight = 0;
  new Gauge({
    name: 'trestle_graphql_requests_in_flight',
    help: 'Requests without a response so far.',
    registers: [registry],
    collect() {
      this.set(inFlight);
    },
  });
  const durations = createDurations(registry);
  return {
    begin() {
      inFlight++;
    },
    end({ status, seconds, operation = 'anonymous', span }) {
      inFlight--;
      durations(operation, status).observe(seconds, span);
    },
  };
}

/** Returns the series of an operation name and a status; the number of series is bounded. */
function createDurations(registry: Registry): (operation: string, status: number) => HistogramSeries {
  const open = createHistogram({
    registry,
    name: 'trestle_graphql_request_duration_seconds',
    help: 'Time from the head of a request to its response.',
    labelNames: ['operation', 'status'],
  });
  const byName = new Map<string, Map<number, HistogramSeries>>();
  new Gauge({
    name: 'trestle_operation_names',
    help: 'Operation names with their own label; beyond 100 the label is "other".',
    registers: [registry],
    collect() {
      this.set(byName.size);
    },
  });
  return (operation, status) => {
    const isNamed = byName.has(operation) || (byName.size < MAX_NAMES && operation.length <= MAX_NAME_LENGTH);
    const name = isNamed ? operation : 'other';
    let byStatus = byName.get(name);
    if (!byStatus) byName.set(name, (byStatus = new Map<number, HistogramSeries>()));
    let series = byStatus.get(status);
    if (!series) byStatus.set(status, (series = open({ operation: name, status: String(status) })));
    return series;
  };
}

export interface CacheCounts {
  readonly hits: number;
  readonly misses: number;
}

/** Registers the metric of the cache of prepared operations; `read` returns the counts so far. */
export function registerOperationCache(registry: Registry, read: () => CacheCounts): void {
  new Counter({
    name: 'trestle_operation_cache_total',
    help: 'Lookups of prepared operations, by result: hit or miss.',
    labelNames: ['result'],
    registers: [registry],
    collect() {
      const { hits, misses } = read();
      this.reset();
      this.inc({ result: 'hit' }, hits);
      this.inc({ result: 'miss' }, misses);
    },
  });
}
