/** Prometheus metrics of subscriptions: of clients' connections, and of the streams behind them. */
import { createHistogram } from '@trestle/service/probes/histogram';
import { Counter, Gauge, type Registry } from 'prom-client';

export type Transport = 'websocket' | 'sse' | 'multipart';

/** What transports report. */
export interface TransportMetrics {
  readonly sockets: { inc(): void; dec(): void };
  readonly subscriptionBegan: (transport: Transport) => void;
  readonly subscriptionEnded: (transport: Transport, cause: string) => void;
  /** Called for each event that a slow client missed. */
  readonly eventDropped: () => void;
}

/** Bytes that wait for clients, and the number of these clients. */
export interface SendBufferCounts {
  readonly bytes: number;
  readonly clients: number;
}

/** Registers the metrics of clients' connections and returns the functions that feed them. */
export function createTransportMetrics(registry: Registry): TransportMetrics {
  const registers = [registry];
  const sockets = new Gauge({ name: 'trestle_websockets_open', help: 'Open WebSockets of clients.', registers });
  const open = new Gauge({
    name: 'trestle_subscriptions_open',
    help: 'Open subscriptions of clients.',
    labelNames: ['transport'],
    registers,
  });
  const ended = new Counter({
    name: 'trestle_subscriptions_ended_total',
    help: 'Subscriptions that ended, by cause; complete and stopped are normal.',
    labelNames: ['transport', 'cause'],
    registers,
  });
  const dropped = new Counter({ name: 'trestle_subscription_events_dropped_total', help: 'Events that slow clients missed.', registers });
  return {
    sockets,
    subscriptionBegan: (transport) => {
      open.inc({ transport });
    },
    subscriptionEnded: (transport, cause) => {
      open.dec({ transport });
      ended.inc({ transport, cause });
    },
    eventDropped: () => {
      dropped.inc();
    },
  };
}

/** Registers the metrics of what waits for clients, which all graphs of a process share. */
export function registerSendBuffers(registry: Registry, buffers: SendBufferCounts): void {
  for (const [name, help] of [
    ['bytes', 'Bytes that wait for clients of WebSockets and event streams.'],
    ['clients', 'Clients of WebSockets and event streams that bytes wait for.'],
  ] as const)
    new Gauge({
      name: `trestle_send_buffer_${name}`,
      help,
      registers: [registry],
      collect() {
        this.set(buffers[name]);
      },
    });
}

/** Counts of the streams that the engine runs. */
export interface StreamCounts {
  readonly responseStreams: number;
  /** Events that subgraphs sent. */
  readonly received: number;
  /** Events handed to subscribers: one event counts once for each. */
  readonly delivered: number;
  /** Events that subgraphs sent and that are not delivered. */
  readonly waiting: number;
}

/** Registers the metrics of the streams that the engine runs; `read` returns their counts. */
export function registerStreams(registry: Registry, read: () => StreamCounts): void {
  const registers = [registry];
  new Gauge({
    name: 'trestle_subscription_response_streams',
    help: 'Response streams: subscriptions with the same result share one.',
    registers,
    collect() {
      this.set(read().responseStreams);
    },
  });
  new Gauge({
    name: 'trestle_subscription_events_waiting',
    help: 'Events that subgraphs sent and that are not delivered.',
    registers,
    collect() {
      this.set(read().waiting);
    },
  });
  for (const [result, help] of [
    ['received', 'Events that subgraphs sent.'],
    ['delivered', 'Events handed to subscribers.'],
  ] as const)
    new Counter({
      name: `trestle_subscription_events_${result}_total`,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read()[result]);
      },
    });
}

/** Registers the lag of events and returns the function that observes it, in seconds. */
export function createLagMetric(registry: Registry): (seconds: number) => void {
  const series = createHistogram({
    registry,
    name: 'trestle_subscription_event_lag_seconds',
    help: "Time from the arrival of a subgraph's event to the last subscriber's socket.",
    labelNames: [],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  })({});
  return (seconds) => {
    series.observe(seconds);
  };
}
