/** What a check keeps of the costs of operations. */
import { createHash } from 'node:crypto';
import type { CostComparison } from '@trestle/graph-checks/compare-costs';

/** An operation that costs more after a change. */
export interface GrownOperation {
  /** Identifies the operation with its new cost, so that an approval holds for later checks. */
  readonly id: string;
  readonly hash: string;
  readonly name: string | null;
  readonly before: number;
  readonly after: number;
  /** Null when it is registered and was not recorded. */
  readonly requests: number | null;
  readonly percent: number | null;
  readonly isOverLimit: boolean;
}

/** What a change does to the costs of operations. */
export interface FoundCosts {
  /** 0: no limit. */
  readonly maxCost: number;
  readonly compared: number;
  readonly grownCount: number;
  /** Those above the limit first, then those that grow most. */
  readonly operations: readonly GrownOperation[];
  /** The ids of all that are above the limit and were not before. */
  readonly overLimit: readonly string[];
}

const MAX_OPERATIONS = 20;

/** Returns what is kept of a comparison. */
export function toFoundCosts({ grown, compared }: CostComparison, maxCost: number): FoundCosts {
  const operations = grown.map(({ count: requests, ...operation }) => ({ id: idOf(operation), ...operation, requests }));
  const overLimit = operations.filter(({ isOverLimit }) => isOverLimit).map(({ id }) => id);
  return {
    ...{ maxCost, compared, grownCount: grown.length },
    operations: operations.slice(0, MAX_OPERATIONS),
    overLimit,
  };
}

function idOf({ hash, after }: Pick<GrownOperation, 'hash' | 'after'>): string {
  return createHash('sha256')
    .update(JSON.stringify(['COST', hash, after]))
    .digest('hex')
    .slice(0, 32);
}
