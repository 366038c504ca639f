/** What Prometheus reads of the gateway besides its subgraphs: requests by status and operation, prepared operations (contract §1). */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { DoorMetrics } from '../transports/http/visit.ts';
import type { Engine } from '../engines/engine.ts';
import type { TrestleEngine } from '../engines/trestle.ts';
import { type Series, createHistogram } from './histogram.ts';

/** Names of operations are the clients' to choose: so many are told apart, the rest are `other`. */
const MAX_NAMES = 100;
/** Characters of a name that is told apart: names are ASCII, so that all of them hold a bounded number of bytes. */
const MAX_NAME_LENGTH = 100;

/** Gives what the door calls for each request. */
export function createGatewayMetrics(metrics: Registry, engine: Engine): DoorMetrics {
  let inFlight = 0;
  new Gauge({
    name: 'trestle_graphql_requests_in_flight',
    help: 'Requests that have no answer yet.',
    registers: [metrics],
    collect() {
      this.set(inFlight);
    },
  });
  const durations = createHistogram({
    registry: metrics,
    name: 'trestle_graphql_request_duration_seconds',
    help: 'Time from the head of a request to its answer.',
    labelNames: ['operation', 'status'],
  });
  const { counts } = engine as Partial<TrestleEngine>;
  if (counts) {
    new Counter({
      name: 'trestle_operation_cache_total',
      help: 'Operations that were prepared before, and those that had to be.',
      labelNames: ['result'],
      registers: [metrics],
      collect() {
        const { hits, misses } = (engine as TrestleEngine).counts;
        this.reset();
        this.inc({ result: 'hit' }, hits);
        this.inc({ result: 'miss' }, misses);
      },
    });
  }
  const known = new Map<string, Map<number, Series>>();
  new Gauge({
    name: 'trestle_operation_names',
    help: 'Names of operations that are told apart; beyond 100 they are "other".',
    registers: [metrics],
    collect() {
      this.set(known.size);
    },
  });
  return {
    begin() {
      inFlight++;
    },
    end({ status, seconds, operation = 'anonymous' }) {
      inFlight--;
      const isTold = known.has(operation) || (known.size < MAX_NAMES && operation.length <= MAX_NAME_LENGTH);
      const name = isTold ? operation : 'other';
      let byStatus = known.get(name);
      if (!byStatus) known.set(name, (byStatus = new Map<number, Series>()));
      let series = byStatus.get(status);
      if (!series) byStatus.set(status, (series = durations({ operation: name, status: String(status) })));
      series.observe(seconds);
    },
  };
}
