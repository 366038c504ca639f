/**
 * Runs the steps of a plan in their order. It uses callbacks instead of promises, which would add a turn of the microtask queue to every step of the
 * hot path.
 */
import type { FetchStep, GraphStep, PlanStep } from '../program/program.ts';

export interface PlanRun {
  /** The variables of conditions, with defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** Starts a fetch and calls back once, when the next step may start. */
  readonly fetch: (step: FetchStep, done: () => void) => void;
  /** Starts the fetches of a deferred part, and does not wait for them. */
  readonly begin?: ((part: number) => void) | undefined;
}

/** Calls back once, when every step has ended. */
export function runPlan(step: PlanStep, run: PlanRun, done: () => void): void {
  switch (step.kind) {
    case 'fetch':
      run.fetch(step, done);
      return;
    case 'sequence':
      runSequence(step.steps, run, step.begins ? beginAfter(step.begins, run, done) : done);
      return;
    case 'parallel':
      runParallel(step.steps, run, done);
      return;
    case 'graph':
      runGraph(step, run, done);
      return;
    case 'condition': {
      const next = run.conditions[step.variable] === true ? step.then : step.otherwise;
      if (next) runPlan(next, run, done);
      else done();
    }
  }
}

function beginAfter(parts: readonly number[], { begin }: PlanRun, done: () => void): () => void {
  return () => {
    for (const part of parts) begin?.(part);
    done();
  };
}

function runParallel(steps: readonly PlanStep[], run: PlanRun, done: () => void): void {
  let open = steps.length;
  if (open === 0) done();
  const settle = () => {
    if (--open === 0) done();
  };
  for (const each of steps) runPlan(each, run, settle);
}

function runSequence(steps: readonly PlanStep[], run: PlanRun, done: () => void): void {
  let next = 0;
  const proceed = () => {
    const step = steps[next++];
    if (!step) done();
    else if (next === steps.length) runPlan(step, run, done);
    else runPlan(step, run, proceed);
  };
  proceed();
}

function runGraph({ steps, after, next }: GraphStep, run: PlanRun, done: () => void): void {
  const waits = after.map(({ length }) => length);
  let open = steps.length;
  const start = (index: number) => {
    runPlan(steps[index] as PlanStep, run, () => {
      for (const each of next[index] ?? []) {
        waits[each] = (waits[each] as number) - 1;
        if (waits[each] === 0) start(each);
      }
      if (--open === 0) done();
    });
  };
  after.forEach(({ length }, index) => {
    if (length === 0) start(index);
  });
}
