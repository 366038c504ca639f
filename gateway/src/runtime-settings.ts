/** The settings of a graph that a change of its configuration replaces while it serves. */
import { createAccessOf } from './access/callers.ts';
import { NO_POLICIES } from './access/policies.ts';
import type { Config } from './config.ts';
import type { RuntimeSettings } from './engines/engine.ts';
import { createSubgraphErrors } from './errors/format-error.ts';

/** Returns what an engine needs of a configuration. */
export function toRuntimeSettings({ limits, labels, POLICIES_FILE: policies = NO_POLICIES, ...next }: Config): RuntimeSettings {
  return {
    limits,
    labels,
    accessOf: createAccessOf(policies),
    subgraphErrors: createSubgraphErrors(next.subgraphErrors, next.subgraphErrorsByName, next.errorExtensions),
    addresses: {
      urls: next.subgraphUrls,
      urlLists: next.subgraphUrlLists,
      subscriptionUrls: next.subgraphSubscriptionUrls,
      subscriptionProtocols: next.subscriptionProtocols,
      traffic: next.traffic,
      signing: next.signing,
    },
  };
}
