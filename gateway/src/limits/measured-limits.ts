/** The limits of operations that can be measured: with `mode: measure` an operation above one is executed and counted. No I/O. */
import type { ExceededLimit, Location } from '../program/program.ts';
import { type Limits, limitVariables, measureInputDepth } from './limits.ts';

/**
 * What is refused in the mode `measure` too, unless the limit itself is higher. No client that we know comes near these; beyond them the stack of the
 * planner or its time would be at risk.
 */
export const CEILINGS = {
  maxDepth: 50,
  maxAliases: 10_000,
  maxRootFields: 10_000,
  maxSelections: 20_000,
  maxInputDepth: 200,
  maxDeferred: 100,
} as const satisfies Partial<Limits>;

/** The name of a limit, as it is in `limits` of a configuration file. */
export type MeasuredLimit = keyof typeof CEILINGS;

/** Returns the limits above which operations are refused: with `measure` the ceilings, where they are higher. */
export function toRefusingLimits(limits: Limits): Limits {
  if (limits.mode === 'enforce') return limits;
  const higher = Object.entries(CEILINGS).map(([name, ceiling]) => [name, Math.max(ceiling, limits[name as MeasuredLimit])]);
  return { ...limits, ...(Object.fromEntries(higher) as Record<MeasuredLimit, number>) };
}

/** Collects the limits that one operation exceeds. */
export class LimitMeter {
  readonly #limits: Limits;
  readonly #exceeded = new Map<MeasuredLimit, number>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** Notes a value of the operation. The largest of several above the limit is kept. */
  note(limit: MeasuredLimit, value: number): void {
    if (value > Math.max(this.#limits[limit], this.#exceeded.get(limit) ?? 0)) this.#exceeded.set(limit, value);
  }

  /** Returns the limits that are exceeded; undefined for none. */
  get exceeded(): readonly ExceededLimit[] | undefined {
    return this.#exceeded.size === 0 ? undefined : [...this.#exceeded].map(([limit, value]) => ({ limit, value }));
  }
}

/**
 * Limits the variables as {@link limitVariables} does, and returns the limits that the operation exceeds where these are measured: those of its document,
 * and that of its variables. Undefined for none.
 */
export function measureOperation(
  exceeded: readonly ExceededLimit[] | undefined,
  variables: Readonly<Record<string, unknown>>,
  { limits, locate }: { readonly limits: Limits; readonly locate: (name: string) => Location | undefined },
): readonly ExceededLimit[] | undefined {
  if (limits.mode === 'enforce') {
    limitVariables(variables, limits, locate);
    return undefined;
  }
  limitVariables(variables, toRefusingLimits(limits), locate);
  const value = Object.values(variables).reduce<number>((deepest, each) => Math.max(deepest, measureInputDepth(each)), 0);
  if (value <= limits.maxInputDepth) return exceeded;
  const others = exceeded?.filter(({ limit }) => limit !== 'maxInputDepth') ?? [];
  return [...others, { limit: 'maxInputDepth', value }];
}
