/** The equal queries in flight of one graph, which share a request to a subgraph, or a whole execution. */
import type { Registry } from 'prom-client';
import type { Config } from './config.ts';
import { SharedExecutions } from './engines/shared-executions.ts';
import { QuerySharing } from './upstream/query-sharing.ts';

export interface QueriesInFlight {
  /** Shares requests to subgraphs; undefined where each query sends its own. */
  readonly requests: QuerySharing | undefined;
  /** Shares executions; undefined where each query is executed for itself. */
  readonly executions: SharedExecutions | undefined;
  /** Lets no later query share what began before: what it reads may have changed since. Undefined where nothing is shared. */
  readonly forget: (() => void) | undefined;
}

/** Creates what the settings ask for. */
export function createQueriesInFlight(
  config: Pick<Config, 'UPSTREAM_DEDUPLICATION' | 'OPERATION_DEDUPLICATION' | 'RESPONSE_CACHE' | 'RESPONSE_CACHE_CONTENTS'>,
  metrics: Registry,
): QueriesInFlight {
  const requests = config.UPSTREAM_DEDUPLICATION ? new QuerySharing() : undefined;
  const hasKeptParts = config.RESPONSE_CACHE !== 'off' && config.RESPONSE_CACHE_CONTENTS !== 'results';
  const executions = config.OPERATION_DEDUPLICATION ? new SharedExecutions(metrics, { hasKeptParts }) : undefined;
  const forget = () => {
    requests?.forget();
    executions?.forget();
  };
  return { requests, executions, forget: requests || executions ? forget : undefined };
}
