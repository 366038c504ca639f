/** How long the result of an operation may be cached by `@cacheControl`, as plain data of its program. No I/O. */
import { type CachePolicy, NO_STORE } from '../request/cache-policy.ts';

/** What the fields of a selection set allow. */
export interface CacheRule {
  /** The smallest `maxAge`, in seconds; undefined when no field has one. */
  readonly maxAge: number | undefined;
  /** Whether any field is PRIVATE. */
  readonly isPrivate: boolean;
  /** What `@skip` and `@include` with variables decide. */
  readonly branches: readonly CacheBranch[];
}

/** Fields that are selected only under conditions. */
export interface CacheBranch {
  /** One of these lists must hold, each with all of its conditions. */
  readonly when: readonly (readonly Condition[])[];
  readonly rule: CacheRule;
}

/** `@include` (`isTrue`) or `@skip` with a variable. */
export interface Condition {
  readonly variable: string;
  readonly isTrue: boolean;
}

/** Returns the policy for these variables; undefined without a rule, which is where the supergraph has no hints. */
export function toPlannedPolicy(rule: CacheRule | undefined, variables: Readonly<Record<string, unknown>>): CachePolicy | undefined {
  if (!rule) return undefined;
  const { maxAge, isPrivate } = rule.branches.length === 0 ? rule : strictest(rule, variables);
  if (maxAge === undefined || maxAge === 0) return NO_STORE;
  return { maxAge, sharedMaxAge: isPrivate ? 0 : maxAge, isPrivate };
}

function strictest(rule: CacheRule, variables: Readonly<Record<string, unknown>>): Pick<CacheRule, 'maxAge' | 'isPrivate'> {
  let { maxAge, isPrivate } = rule;
  // Branches share rules, each of which is looked at once.
  const seen = new Set<CacheRule>([rule]);
  const open = [...rule.branches];
  for (let branch = open.pop(); branch; branch = open.pop()) {
    if (seen.has(branch.rule) || !branch.when.some((all) => all.every(({ variable, isTrue }) => variables[variable] === isTrue))) continue;
    seen.add(branch.rule);
    maxAge = minOf(maxAge, branch.rule.maxAge);
    isPrivate ||= branch.rule.isPrivate;
    open.push(...branch.rule.branches);
  }
  return { maxAge, isPrivate };
}

/** Returns the smaller of two times; one that is undefined says nothing. */
export function minOf(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
