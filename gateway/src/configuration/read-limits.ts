/** The limits of operations, by their settings. No I/O. */
import type { Limits } from '../limits/limits.ts';

/** The settings that are limits. */
interface LimitValues {
  readonly LIMITS_MODE: Limits['mode'];
  readonly MAX_DEPTH: number;
  readonly MAX_ALIASES: number;
  readonly MAX_ROOT_FIELDS: number;
  readonly MAX_SELECTIONS: number;
  readonly MAX_INPUT_DEPTH: number;
  readonly INTROSPECTION: boolean;
  readonly MUTATIONS: boolean;
  readonly SUBSCRIPTIONS: boolean;
  readonly DENIED_FIELDS: Limits['deniedFields'];
  readonly MAX_TOKENS: number;
  readonly MAX_COST: number;
  readonly ASSUMED_LIST_SIZE: number;
  readonly COST_MODE: Limits['costMode'];
  readonly MAX_DEFERRED: number;
  readonly MAX_RESPONSE_BYTES: number;
  readonly OPERATION_TIMEOUT_MS: number;
}

/** Returns the limits of one operation. `listSizes` has the assumed sizes of single subgraphs. */
export function toLimits(values: LimitValues, listSizes: Limits['assumedListSizes']['bySubgraph']): Limits {
  return {
    mode: values.LIMITS_MODE,
    maxDepth: values.MAX_DEPTH,
    maxAliases: values.MAX_ALIASES,
    maxRootFields: values.MAX_ROOT_FIELDS,
    maxSelections: values.MAX_SELECTIONS,
    maxInputDepth: values.MAX_INPUT_DEPTH,
    hasIntrospection: values.INTROSPECTION,
    hasMutations: values.MUTATIONS,
    hasSubscriptions: values.SUBSCRIPTIONS,
    deniedFields: values.DENIED_FIELDS,
    maxTokens: values.MAX_TOKENS,
    maxCost: values.MAX_COST,
    assumedListSizes: { all: values.ASSUMED_LIST_SIZE, bySubgraph: listSizes },
    costMode: values.COST_MODE,
    maxDeferred: values.MAX_DEFERRED,
    maxResponseBytes: values.MAX_RESPONSE_BYTES,
    operationTimeoutMs: values.OPERATION_TIMEOUT_MS,
  };
}
