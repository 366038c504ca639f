/** The reports that a client asks for, as `extensions` of its result. */
import type { Executed } from '../execute/execute.ts';
import type { Assembled } from '../execute/executor.ts';
import type { PlanReport } from '../execute/plan-report.ts';
import type { Operation } from '../program/operation.ts';
import type { Reports } from '../request/operation.ts';

/** An operation that was executed, and what is known of it. */
export interface ReportedRun {
  readonly operation: Operation;
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** The estimated cost. */
  readonly cost: number;
  readonly result: Executed | Assembled;
  readonly plan: PlanReport | undefined;
  /** Of the supergraph. */
  readonly hash: string;
}

/** Returns the reports; undefined when none is wanted. */
export function writeReports(
  { cost: hasCost, supergraph: hasSupergraph }: Reports,
  { operation: { program, compiled }, conditions, cost: estimated, result, plan, hash }: ReportedRun,
): object | undefined {
  if (!plan && !hasCost && !hasSupergraph) return undefined;
  const actualCost = () => ('assembled' in result ? result.cost : compiled.actualCost(result.data, conditions));
  return {
    ...(hasCost && { cost: { estimated, actual: actualCost() } }),
    ...(hasSupergraph && { supergraph: { hash } }),
    ...(plan && { plan: plan.write(program.plan) }),
  };
}
