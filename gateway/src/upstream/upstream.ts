/** Sends fetches to subgraphs over kept-alive connections, with limits of time and size and the caller's own headers. */
import { createHistogram, type HistogramSeries } from '@trestle/service/histogram';
import type { Registry } from 'prom-client';
import { Pool } from 'undici';
import type { FetchDone } from '../program/result.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { type UpstreamRequest, type UpstreamTarget, startFetch } from './fetch-attempt.ts';
import { createRetryBudget } from './retry-budget.ts';
import { type SubscriptionUpstream, createSubgraphSockets } from './subgraph-sockets.ts';

const CONNECTIONS = 64;
const CONNECT_TIMEOUT_MS = 2000;
const MAX_RESPONSE_BYTES = 32 * 1024 * 1024;

/** One subgraph. */
export interface Upstream {
  /** Calls back once. Adds the duration, and whether the result is a replay, to the fetch log of the context. */
  send(request: UpstreamRequest, done: FetchDone): void;
  /** The address of its fetches. */
  readonly url: URL;
  readonly subscriptions: SubscriptionUpstream;
}

export interface Upstreams {
  /** Returns the subgraph of this name at this URL, unless a setting overrides the URL. */
  open(name: string, url: string): Upstream;
  close(): Promise<void>;
}

export interface UpstreamOptions {
  /** URLs that override those of the supergraph, by name in lower case. */
  readonly urls: ReadonlyMap<string, string>;
  /** URLs of subscriptions, where they differ from those of fetches. */
  readonly subscriptionUrls: ReadonlyMap<string, string>;
  readonly timeoutMs: number;
  /** How often WebSockets to subgraphs are pinged. */
  readonly pingIntervalMs: number;
  readonly metrics: Registry;
}

/** Creates the connections to all subgraphs. They are opened when they are first needed. */
export function createUpstreams({ urls, subscriptionUrls, timeoutMs, pingIntervalMs, metrics }: UpstreamOptions): Upstreams {
  const pools = new Map<string, Pool>();
  const sockets = createSubgraphSockets({ pingIntervalMs });
  const durations = createHistogram({
    registry: metrics,
    name: 'trestle_subgraph_fetch_duration_seconds',
    help: 'Time from sending a fetch to a subgraph to its whole response.',
    labelNames: ['subgraph', 'outcome'],
  });
  const poolOf = (origin: string): Pool => {
    const pool = pools.get(origin) ?? createPool(origin, timeoutMs);
    pools.set(origin, pool);
    return pool;
  };
  return {
    open(name, url) {
      const address = urls.get(name.toLowerCase()) ?? url;
      const target = new URL(address);
      const send = createSend(
        {
          name,
          pool: poolOf(target.origin),
          path: target.pathname + target.search,
          breaker: createCircuitBreaker(),
          retries: createRetryBudget(),
        },
        (outcome) => durations({ subgraph: name, outcome }),
      );
      return { url: target, subscriptions: sockets.open(subscriptionUrls.get(name.toLowerCase()) ?? address), send };
    },
    close: async () => {
      sockets.close();
      await Promise.all(Array.from(pools.values(), (pool) => pool.destroy()));
    },
  };
}

function createPool(origin: string, timeoutMs: number): Pool {
  return new Pool(origin, {
    connections: CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    maxResponseSize: MAX_RESPONSE_BYTES,
  });
}

/** Returns {@link Upstream.send} of one subgraph; `open` opens the series of an outcome. */
function createSend(target: UpstreamTarget, open: (outcome: string) => HistogramSeries): Upstream['send'] {
  const byOutcome = new Map<string, HistogramSeries>();
  const observe = (outcome: string, seconds: number) => {
    let series = byOutcome.get(outcome);
    if (!series) byOutcome.set(outcome, (series = open(outcome)));
    series.observe(seconds);
  };
  return (request, done) => {
    const { fetchLog } = request.context;
    const startedAt = performance.now();
    startFetch(target, request, (failure, result) => {
      const milliseconds = performance.now() - startedAt;
      fetchLog.add(target.name, milliseconds);
      observe(failure ? failure.code : result.errors ? 'errors' : 'data', milliseconds / 1000);
      done(failure, result);
    });
  };
}
