/** The limits of one operation (contract §6), and the checks that depend on variables. */
import type { DeniedFieldMode } from '../access/denial.ts';
import { ASSUMED_LIST_SIZE } from '@trestle/graph-checks/cost-directives';
import { LocatedFault } from '../program/located-fault.ts';
import type { Location } from '../program/program.ts';

/** `enforce` refuses operations above a limit, `measure` executes and counts them. */
export const LIMIT_MODES = ['enforce', 'measure'] as const;
type LimitMode = (typeof LIMIT_MODES)[number];

/** Sizes of lists of all subgraphs, and of single ones by their names in lower case. */
export interface AssumedListSizes {
  readonly all: number;
  readonly bySubgraph: Readonly<Record<string, number>>;
}

/** Every limit is a setting. */
export interface Limits {
  /** What happens to an operation above one of the limits that `measured-limits.ts` names. */
  readonly mode: LimitMode;
  /** Nested fields. */
  readonly maxDepth: number;
  readonly maxAliases: number;
  /** More than `maxAliases`: all aliases of an operation may be those of root fields. */
  readonly maxRootFields: number;
  /** Nested input objects, in literals and in variables; lists around them do not count. */
  readonly maxInputDepth: number;
  /** Whether `__schema` and `__type` are available. */
  readonly hasIntrospection: boolean;
  /** Whether clients may send mutations. */
  readonly hasMutations: boolean;
  /** Whether clients may subscribe. */
  readonly hasSubscriptions: boolean;
  readonly deniedFields: DeniedFieldMode;
  /** Selections of an operation with all fragments expanded: the work of the planner. */
  readonly maxSelections: number;
  /** A document with more tokens is not parsed, so that its nesting cannot overflow the stack of the parser and of validation. */
  readonly maxTokens: number;
  /** By the IBM cost specification, estimated before execution. */
  readonly maxCost: number;
  /** What the estimate assumes of lists whose size neither the schema nor the operation gives. */
  readonly assumedListSizes: AssumedListSizes;
  /** What happens to an operation above `maxCost`. */
  readonly costMode: LimitMode;
  /** Directives `@defer` and `@stream` of a document; 0: the schema of clients has none of them. */
  readonly maxDeferred: number;
  /** The largest response, in bytes before compression. */
  readonly maxResponseBytes: number;
  /** How long an operation may be executed, in milliseconds; 0 for no limit besides those of its fetches. */
  readonly operationTimeoutMs: number;
}

/** Those of contract §6; the others leave room for every client that we know. */
export const DEFAULT_LIMITS: Limits = {
  mode: 'enforce',
  maxDepth: 12,
  maxAliases: 30,
  maxRootFields: 50,
  maxInputDepth: 50,
  hasIntrospection: true,
  hasMutations: true,
  hasSubscriptions: true,
  deniedFields: 'remove',
  maxSelections: 2000,
  maxTokens: 4000,
  maxCost: 1_000_000,
  assumedListSizes: { all: ASSUMED_LIST_SIZE, bySubgraph: {} },
  costMode: 'enforce',
  maxDeferred: 0,
  maxResponseBytes: 10 * 1024 * 1024,
  operationTimeoutMs: 0,
};

/**
 * Throws VALIDATION_ERROR that names every variable whose input objects are nested too deep. `locate` returns the position of a variable's
 * definition in the document.
 */
export function limitVariables(
  variables: Readonly<Record<string, unknown>>,
  { maxInputDepth }: Pick<Limits, 'maxInputDepth'>,
  locate: (name: string) => Location | undefined,
): void {
  if (!hasDeeper(variables, maxInputDepth)) return;
  const tooDeep = Object.entries(variables)
    .map(([name, value]) => ({ name, depth: measureInputDepth(value) }))
    .filter(({ depth }) => depth > maxInputDepth);
  const details = tooDeep.map(({ name, depth }) => ({
    field: `variables.${name}`,
    message: `input object depth ${String(depth)} exceeds the limit of ${String(maxInputDepth)}`,
  }));
  const [first = { field: '', message: '' }] = details;
  const locations = tooDeep.map(({ name }) => locate(name));
  throw new LocatedFault('VALIDATION_ERROR', `\`${first.field}\`: ${first.message}.`, { details, locations });
}

function hasDeeper(variables: Readonly<Record<string, unknown>>, maxInputDepth: number): boolean {
  for (const name in variables) if (measureInputDepth(variables[name]) > maxInputDepth) return true;
  return false;
}

/** Returns the fault of an operation whose cost exceeds the limit. `location` is its position in the document. */
export function toCostFault(cost: number, limits: Pick<Limits, 'maxCost'>, location: Location | undefined): LocatedFault {
  return new LocatedFault('VALIDATION_ERROR', tooExpensive(cost, limits), { locations: [location] });
}

/**
 * Returns the limits for the cost of introspection alone, which the planner executes: with `measure` the default at least, so that a low limit
 * refuses nothing and introspection stays bounded.
 */
export function toIntrospectionLimits({ maxCost, costMode }: Pick<Limits, 'maxCost' | 'costMode'>): Pick<Limits, 'maxCost'> {
  return { maxCost: costMode === 'measure' ? Math.max(maxCost, DEFAULT_LIMITS.maxCost) : maxCost };
}

/** The estimated cost that counts as one request. */
const COST_PER_UNIT = 1000;

/** Returns how many requests an operation of this cost counts as for the rate limit: 1 for an ordinary one. */
export function toUnits(cost: number): number {
  return Math.max(1, Math.ceil(cost / COST_PER_UNIT));
}

/** Returns the message for an operation whose estimated cost exceeds the limit. */
export function tooExpensive(cost: number, { maxCost }: Pick<Limits, 'maxCost'>): string {
  return `Estimated cost ${String(cost)} exceeds the limit of ${String(maxCost)}.`;
}

/** Returns how many objects are nested in each other; lists do not count. `parseJson` has limited the nesting. */
export function measureInputDepth(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const each of Object.values(value)) deepest = Math.max(deepest, measureInputDepth(each));
  return Array.isArray(value) ? deepest : deepest + 1;
}
