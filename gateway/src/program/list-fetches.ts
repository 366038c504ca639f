/** Lists the fetches of a plan, in the order in which it names them. */
import type { FetchStep, PlanStep } from './program.ts';

export function listFetches(step: PlanStep | undefined): readonly FetchStep[] {
  if (!step) return [];
  if (step.kind === 'fetch') return [step];
  return (step.kind === 'condition' ? [step.then, step.otherwise] : step.steps).flatMap(listFetches);
}
