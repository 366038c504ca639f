/** The reports that a client asks for, as `extensions` of its result. */
import type { PlanReport } from '../execute/plan-report.ts';
import type { Operation } from '../program/operation.ts';
import type { Reports } from '../request/operation.ts';

/** An operation that was executed, and what is known of it. */
export interface ReportedRun {
  readonly operation: Operation;
  readonly cost: { readonly estimated: number; readonly actual: number | undefined };
  readonly plan: PlanReport | undefined;
  /** Of the supergraph. */
  readonly hash: string;
}

/** Returns the reports; undefined when none is wanted. */
export function writeReports(
  { cost: hasCost, supergraph: hasSupergraph }: Reports,
  { operation: { program }, cost, plan, hash }: ReportedRun,
): object | undefined {
  if (!plan && !hasCost && !hasSupergraph) return undefined;
  return {
    ...(hasCost && { cost }),
    ...(hasSupergraph && { supergraph: { hash } }),
    ...(plan && { plan: plan.write(program.plan) }),
  };
}
