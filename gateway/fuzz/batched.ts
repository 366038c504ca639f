/** Finds out which operations have fetches of entities in batches. */
import type { PlanStep } from '#gateway/program/program';

/** Whether a plan has a fetch of entities at several paths (ADR 50). */
export function isBatched(step: PlanStep | undefined): boolean {
  if (!step) return false;
  switch (step.kind) {
    case 'fetch':
      return step.paths.length > 1;
    case 'condition':
      return isBatched(step.then) || isBatched(step.otherwise);
    default:
      return step.steps.some(isBatched);
  }
}
