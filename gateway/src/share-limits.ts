/** What each of several workers has of the limits of the whole gateway. */
import type { Config, ProcessConfig } from './config.ts';
import type { SubgraphTraffic, TrafficSettings } from './upstream/traffic/traffic-settings.ts';

/** Returns the settings of one worker: totals of connections, bytes and requests are divided among all. The same settings with one worker. */
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
  | 'traffic'
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
    traffic: config.traffic && shareTraffic(config.traffic, share),
    subscriptions: { ...subscriptions, maxSubscriptions: share(subscriptions.maxSubscriptions) },
  };
}

/** A limit of 0 is none, and stays so. */
function shareTraffic({ all, bySubgraph }: TrafficSettings, share: (total: number) => number): TrafficSettings {
  const toShare = <Limits extends Partial<SubgraphTraffic>>(limits: Limits): Limits =>
    limits.requestsPerSecond === undefined ? limits : { ...limits, requestsPerSecond: share(limits.requestsPerSecond) };
  return { all: toShare(all), bySubgraph: new Map([...bySubgraph].map(([name, limits]) => [name, toShare(limits)])) };
}
