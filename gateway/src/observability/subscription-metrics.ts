/** What Prometheus reads of subscriptions. */
import { Counter, Gauge, type Registry } from 'prom-client';
import { createHistogram } from './histogram.ts';
import type { HubCounts } from '../subscriptions/subscription-registry.ts';
import type { SendBuffers } from '../transports/delivery/send-buffers.ts';

export type Transport = 'websocket' | 'sse' | 'multipart';

export interface LiveMetrics {
  readonly sockets: { inc(): void; dec(): void };
  readonly began: (transport: Transport) => void;
  readonly ended: (transport: Transport, cause: string) => void;
  readonly dropped: () => void;
}

/** `counts` are those of the engine, which is the one that knows what runs. */
export function createLiveMetrics(
  metrics: Registry,
  { counts, buffers }: { counts: HubCounts | undefined; buffers: Pick<SendBuffers, 'bytes' | 'clients'> },
): LiveMetrics {
  const registers = [metrics];
  const sockets = new Gauge({ name: 'trestle_websockets_open', help: 'WebSockets of clients.', registers });
  const open = new Gauge({
    name: 'trestle_subscriptions_open',
    help: 'Subscriptions that clients hold.',
    labelNames: ['transport'],
    registers,
  });
  const ended = new Counter({
    name: 'trestle_subscriptions_ended_total',
    help: 'Subscriptions that have ended, by why: complete and stopped are as it should be.',
    labelNames: ['transport', 'cause'],
    registers,
  });
  const dropped = new Counter({ name: 'trestle_subscription_events_dropped_total', help: 'Events that slow clients missed.', registers });
  for (const [name, help] of [
    ['bytes', 'Bytes that wait for clients of WebSockets and event streams.'],
    ['clients', 'Clients of WebSockets and event streams that bytes wait for.'],
  ] as const)
    new Gauge({
      name: `trestle_send_buffer_${name}`,
      help,
      registers,
      collect() {
        this.set(buffers[name]);
      },
    });
  if (counts) registerCounts(counts, metrics);
  return {
    sockets,
    began: (transport) => {
      open.inc({ transport });
    },
    ended: (transport, cause) => {
      open.dec({ transport });
      ended.inc({ transport, cause });
    },
    dropped: () => {
      dropped.inc();
    },
  };
}

function registerCounts(counts: HubCounts, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'trestle_subscription_feeds',
    help: 'Subscriptions that run: those that are the same for several clients run once.',
    registers,
    collect() {
      this.set(counts.feeds);
    },
  });
  new Gauge({
    name: 'trestle_subscription_events_waiting',
    help: 'Events that subgraphs told and that are not completed.',
    registers,
    collect() {
      this.set(counts.waiting);
    },
  });
  for (const [result, help] of [
    ['received', 'Events that subgraphs told.'],
    ['delivered', 'Events that were handed to listeners.'],
  ] as const)
    new Counter({
      name: `trestle_subscription_events_${result}_total`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(counts[result]);
      },
    });
  const lag = createHistogram({
    registry,
    name: 'trestle_subscription_event_lag_seconds',
    help: "Time from a subgraph's word to the last listener's socket.",
    labelNames: [],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })({});
  counts.observeLag = (seconds) => {
    lag.observe(seconds);
  };
}
