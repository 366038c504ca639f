/** Prometheus metrics of the connections to subgraphs, whichever client sends the fetches (contract §1). Labels are bounded: see each. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ClientErrorCode, UpstreamClient } from '@trestle/http-client/upstream-client';

export interface UpstreamMetrics {
  /** Reports the connections of a client under the name of its subgraph; there may be several for one subgraph. */
  watch(subgraph: string, client: UpstreamClient): void;
  /** Stops that. The connections that the client has opened still count. */
  unwatch(subgraph: string, client: UpstreamClient): void;
  countError(subgraph: string, code: ClientErrorCode): void;
  countRetry(subgraph: string): void;
  /** Counts an address that gets no requests for a while. */
  countEjection(subgraph: string, address: string): void;
  /** Returns what counts a request that got the response of another one. */
  countShared(subgraph: string): () => void;
}

/** Registers the metrics. `subgraph` is a name of the supergraph, `code` one of {@link ClientErrorCode}, `address` a host of the settings. */
export function createUpstreamMetrics(registry: Registry): UpstreamMetrics {
  const clients = new Map<string, WatchedClients>();
  registerConnections(registry, clients);
  const errors = new Counter({
    name: 'trestle_subgraph_request_errors_total',
    help: 'Requests to subgraphs that got no response, by the cause. A request that is retried counts each time.',
    labelNames: ['subgraph', 'code'],
    registers: [registry],
  });
  const retries = new Counter({
    name: 'trestle_subgraph_request_retries_total',
    help: 'Requests to subgraphs that were sent again.',
    labelNames: ['subgraph'],
    registers: [registry],
  });
  const ejections = new Counter({
    name: 'trestle_subgraph_ejections_total',
    help: 'How often an address of a subgraph with several was ejected because it failed.',
    labelNames: ['subgraph', 'address'],
    registers: [registry],
  });
  const shared = new Counter({
    name: 'trestle_subgraph_requests_shared_total',
    help: 'Requests to subgraphs that were not sent, because an equal query was in flight.',
    labelNames: ['subgraph'],
    registers: [registry],
  });
  return {
    watch(subgraph, client) {
      const watched = clients.get(subgraph) ?? { now: new Set(), openedBefore: 0 };
      watched.now.add(client);
      clients.set(subgraph, watched);
      retries.inc({ subgraph }, 0);
    },
    unwatch(subgraph, client) {
      const watched = clients.get(subgraph);
      if (watched?.now.delete(client)) watched.openedBefore += client.readCounts().opened;
    },
    countError: (subgraph, code) => {
      errors.inc({ subgraph, code });
    },
    countRetry: (subgraph) => {
      retries.inc({ subgraph });
    },
    countEjection: (subgraph, address) => {
      ejections.inc({ subgraph, address });
    },
    countShared: (subgraph) => () => {
      shared.inc({ subgraph });
    },
  };
}

/** The clients of one subgraph. */
interface WatchedClients {
  readonly now: Set<UpstreamClient>;
  /** Connections of clients that are not watched any more: a counter must not go back. */
  openedBefore: number;
}

/** The clients count; the metrics read the counts when they are collected, so that a fetch does not pay for them. */
function registerConnections(registry: Registry, clients: ReadonlyMap<string, WatchedClients>): void {
  const sumOf = (name: 'open' | 'waiting' | 'opened') =>
    Array.from(clients, ([subgraph, { now, openedBefore }]) => {
      const first = name === 'opened' ? openedBefore : 0;
      return { subgraph, sum: [...now].reduce((sum, client) => sum + client.readCounts()[name], first) };
    });
  const labelNames = ['subgraph'];
  const registers = [registry];
  new Gauge({
    name: 'trestle_subgraph_connections_open',
    help: 'Connections to a subgraph that are open or being opened.',
    labelNames,
    registers,
    collect() {
      for (const { subgraph, sum } of sumOf('open')) this.set({ subgraph }, sum);
    },
  });
  new Gauge({
    name: 'trestle_subgraph_requests_waiting',
    help: 'Requests that wait for a connection to a subgraph.',
    labelNames,
    registers,
    collect() {
      for (const { subgraph, sum } of sumOf('waiting')) this.set({ subgraph }, sum);
    },
  });
  new Counter({
    name: 'trestle_subgraph_connections_created_total',
    help: 'Connections to a subgraph that were begun. It grows with each request when the subgraph does not keep connections.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const { subgraph, sum } of sumOf('opened')) this.inc({ subgraph }, sum);
    },
  });
}
