/** The settings that limit single operations. */
import { setting } from '@trestle/env';
import { ASSUMED_LIST_SIZE } from '@trestle/graph-checks/cost-directives';
import { DEFAULT_LIMITS, LIMIT_MODES } from '../../limits/limits.ts';

const listSize = () => setting.integer(0, 1_000_000);

/** By the names of their environment variables. */
export const limitSettings = {
  MAX_DEPTH: setting.integer(1, 1000).default(DEFAULT_LIMITS.maxDepth),
  MAX_ALIASES: setting.integer(0, 10_000).default(DEFAULT_LIMITS.maxAliases),
  MAX_ROOT_FIELDS: setting.integer(1, 10_000).default(DEFAULT_LIMITS.maxRootFields),
  MAX_SELECTIONS: setting.integer(10, 100_000).default(DEFAULT_LIMITS.maxSelections),
  MAX_INPUT_DEPTH: setting.integer(1, 200).default(DEFAULT_LIMITS.maxInputDepth),
  MAX_DEFERRED: setting.integer(0, 100).default(DEFAULT_LIMITS.maxDeferred),
  INTROSPECTION: setting.onOff().default(DEFAULT_LIMITS.hasIntrospection),
  MUTATIONS: setting.onOff().default(DEFAULT_LIMITS.hasMutations),
  MAX_TOKENS: setting.integer(10, 1_000_000).default(DEFAULT_LIMITS.maxTokens),
  LIMITS_MODE: setting.choice(...LIMIT_MODES).default(DEFAULT_LIMITS.mode),
  MAX_COST: setting.integer(1, 1_000_000_000).default(DEFAULT_LIMITS.maxCost),
  ASSUMED_LIST_SIZE: listSize().default(ASSUMED_LIST_SIZE),
  COST_MODE: setting.choice(...LIMIT_MODES).default(DEFAULT_LIMITS.costMode),
  MAX_RESPONSE_BYTES: setting.integer(65_536, 268_435_456).default(DEFAULT_LIMITS.maxResponseBytes),
};

/** The assumed size of lists of one subgraph: the prefix of its environment variable, which ends with the subgraph's name. */
export const subgraphListSize = { prefix: 'SUBGRAPH_ASSUMED_LIST_SIZE_', reader: listSize() } as const;
