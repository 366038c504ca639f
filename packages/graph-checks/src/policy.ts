/** The policy of checks: which recorded requests count, how much each kind of change matters, and what operations may cost. */

import { ASSUMED_LIST_SIZE } from './cost-directives.ts';

/** Configures how changes are decided. */
export interface UsagePolicy {
  /** An operation counts as affected from so many requests. */
  readonly minimumCount: number;
  /** An operation counts as affected from this part of all counted requests, in percent. */
  readonly minimumPercent: number;
  /** Whether requests of clients that do not name themselves count. */
  readonly anonymousClients: 'count' | 'ignore';
  /** Clients that do not count, as `name` or `name@version`. */
  readonly excludedClients: readonly string[];
  /** Names of operations that do not count. */
  readonly excludedOperations: readonly string[];
  /** `always`: a breaking change of arguments and input types fails, whether or not something uses it. */
  readonly inputs: 'usage' | 'always';
  /** What an added enum value, union member or implementation means when an operation can receive it. */
  readonly additions: 'ignore' | 'warn' | 'fail';
  /** What another dangerous change means when an operation is affected. */
  readonly dangerous: 'ignore' | 'warn' | 'fail';
  /** Fewer counted requests than this are not enough data to say that nothing uses what changed. */
  readonly enoughRequests: number;
  /** Fewer recorded days than this are not enough data. */
  readonly enoughDays: number;
  /** An operation that costs more than this after a change, and did not before, fails. 0: no limit. */
  readonly maxCost: number;
  /** The size of a list that neither the schema nor the operation gives one: that of `limits.assumedListSize` of the gateway. */
  readonly assumedListSize: number;
}

/** The policy of an environment that sets none. */
export const DEFAULT_POLICY: UsagePolicy = {
  minimumCount: 1,
  minimumPercent: 0,
  anonymousClients: 'count',
  excludedClients: [],
  excludedOperations: [],
  inputs: 'usage',
  additions: 'warn',
  dangerous: 'warn',
  enoughRequests: 100,
  enoughDays: 7,
  maxCost: 0,
  assumedListSize: ASSUMED_LIST_SIZE,
};
