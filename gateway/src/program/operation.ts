/** Makes a program runnable on the thread that serves. */
import type { Compiled, FetchStep, PlanStep, Program } from './program.ts';

/** An operation that can be run any number of times, also at the same time. */
export interface Operation {
  readonly program: Program;
  readonly compiled: Compiled;
  /** Every fetch of the plan, in the plan's order. */
  readonly fetches: readonly FetchStep[];
  /** How often it was run: what is used most is planned first for the next supergraph. */
  uses: number;
}

export function link(program: Program): Operation {
  // The planner wrote this from names of the validated schema and escaped literals alone; plan/literals.ts says how.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval, @typescript-eslint/no-unsafe-call
  const compiled = new Function(program.code)() as Compiled;
  const fetches: FetchStep[] = [];
  const visit = (step: PlanStep | undefined): void => {
    if (step?.kind === 'fetch') fetches.push(step);
    else if (step?.kind === 'condition') [step.then, step.otherwise].forEach(visit);
    else step?.steps.forEach(visit);
  };
  visit(program.plan);
  return { program, compiled, fetches, uses: 0 };
}
