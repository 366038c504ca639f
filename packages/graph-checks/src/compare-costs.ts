/** Compares what operations cost before and after a change of a schema. */
import { type DocumentNode, parse } from 'graphql';
import { type CostSchemas, estimateCost } from './estimate-cost.ts';
import { DEFAULT_POLICY, type UsagePolicy } from './policy.ts';
import { type RecordedUsage, countRequests } from './usage.ts';

/** An operation that a client has registered, as it is sent. */
export interface RegisteredOperation {
  readonly hash: string;
  readonly name: string | null;
  readonly text: string;
}

/** An operation that costs more after a change. */
export interface CostChange {
  readonly hash: string;
  readonly name: string | null;
  readonly before: number;
  readonly after: number;
  /** Its requests, and their part of all counted requests in percent; null when it is registered and was not recorded. */
  readonly count: number | null;
  readonly percent: number | null;
  /** Whether it is above `maxCost` of the policy, and was not before. */
  readonly isOverLimit: boolean;
}

/** What a change does to the costs of operations. */
export interface CostComparison {
  /** Those that cost more: those above the limit first, then those that grow most. */
  readonly grown: readonly CostChange[];
  /** How many operations were compared: those whose fields both schemas have. */
  readonly compared: number;
}

/** Configures a comparison. */
export interface CompareCostsInput {
  readonly before: CostSchemas;
  readonly after: CostSchemas;
  readonly registered?: readonly RegisteredOperation[];
  readonly usage?: RecordedUsage | undefined;
  readonly policy?: UsagePolicy;
  /** How many fields are looked at, of all operations and of one; the rest is not compared. Default: 5,000,000 and 100,000. */
  readonly maxFields?: number;
}

const MAX_FIELDS = 5_000_000;
const MAX_FIELDS_OF_ONE = 100_000;

/** An operation to compare; recorded texts are normalised. */
interface ComparedOperation extends Omit<CostChange, 'before' | 'after' | 'isOverLimit'> {
  readonly text: string;
  readonly isNormalised: boolean;
}

/** Returns the operations that cost more. The policy says which recorded operations count, and the limit. Documents that do not parse are passed over. */
export function compareCosts({ before, after, maxFields = MAX_FIELDS, ...input }: CompareCostsInput): CostComparison {
  const { maxCost, assumedListSize } = input.policy ?? DEFAULT_POLICY;
  const grown: CostChange[] = [];
  let [left, compared] = [maxFields, 0];
  const estimate = (schemas: CostSchemas, document: DocumentNode, isNormalised: boolean) => {
    const given = Math.min(left, MAX_FIELDS_OF_ONE);
    const budget = { fields: given };
    const cost = estimateCost(schemas, document, { isNormalised, assumedListSize, budget });
    left -= given - Math.max(0, budget.fields);
    return cost;
  };
  for (const { text, isNormalised, ...operation } of listOperations(input)) {
    if (left <= 0) break;
    const document = parseText(text);
    const from = document && estimate(before, document, isNormalised);
    const to = document && estimate(after, document, isNormalised);
    if (from === undefined || to === undefined) continue;
    compared++;
    if (to > from) grown.push({ ...operation, before: from, after: to, isOverLimit: maxCost > 0 && to > maxCost && from <= maxCost });
  }
  const rank = ({ before: from, after: to }: CostChange) => to - from;
  return { compared, grown: grown.sort((one, other) => Number(other.isOverLimit) - Number(one.isOverLimit) || rank(other) - rank(one)) };
}

/** Returns each operation once; a registered text has the literals that a recorded one lacks. */
function listOperations({
  registered = [],
  usage,
  policy = DEFAULT_POLICY,
}: Omit<CompareCostsInput, 'before' | 'after'>): ComparedOperation[] {
  const { counted } = usage ? countRequests(usage, policy) : { counted: [] };
  const requests = new Map(counted.map(({ operation, count, percent }) => [operation.hash, { count, percent }]));
  const known = new Map<string, ComparedOperation>();
  for (const { hash, name, text } of registered) {
    if (name !== null && policy.excludedOperations.includes(name)) continue;
    known.set(hash, { hash, name, text, isNormalised: false, ...(requests.get(hash) ?? { count: null, percent: null }) });
  }
  for (const { operation, count, percent } of counted) {
    const { hash, name, text } = operation;
    if (known.has(hash) || count < policy.minimumCount || percent < policy.minimumPercent) continue;
    known.set(hash, { hash, name, text, isNormalised: true, count, percent });
  }
  return [...known.values()];
}

function parseText(text: string): DocumentNode | undefined {
  try {
    return parse(text, { noLocation: true, maxTokens: 100_000 });
  } catch {
    return undefined;
  }
}
