/** What each of several workers has of the limits of the whole gateway. */
import type { Config, ProcessConfig } from './config.ts';

/** Returns the settings of one worker: totals of connections and of bytes are divided among all. The same settings with one worker. */
export function shareLimits(config: ProcessConfig): ProcessConfig {
  const { WORKERS: workers } = config;
  if (workers === 1) return config;
  return {
    ...config,
    ...shareTotals(config, workers),
    graphs: config.graphs.map((graph) => ({ ...graph, config: { ...graph.config, ...shareTotals(graph.config, workers) } })),
  };
}

type Shared = Pick<
  Config,
  | 'MAX_CONNECTIONS'
  | 'MAX_CONNECTIONS_PER_ADDRESS'
  | 'MAX_RECEIVING_BYTES'
  | 'MAX_SENDING_BYTES'
  | 'sendBuffers'
  | 'sockets'
  | 'subscriptions'
>;

function shareTotals(config: Shared, workers: number): Shared {
  const share = (total: number) => Math.ceil(total / workers);
  const { MAX_CONNECTIONS_PER_ADDRESS: perAddress, sendBuffers, sockets, subscriptions } = config;
  return {
    MAX_CONNECTIONS: share(config.MAX_CONNECTIONS),
    MAX_CONNECTIONS_PER_ADDRESS: perAddress === undefined ? undefined : share(perAddress),
    MAX_RECEIVING_BYTES: share(config.MAX_RECEIVING_BYTES),
    MAX_SENDING_BYTES: share(config.MAX_SENDING_BYTES),
    sendBuffers: { ...sendBuffers, maxBytes: share(sendBuffers.maxBytes) },
    sockets: { ...sockets, maxSockets: share(sockets.maxSockets) },
    subscriptions: { ...subscriptions, maxSubscriptions: share(subscriptions.maxSubscriptions) },
  };
}
