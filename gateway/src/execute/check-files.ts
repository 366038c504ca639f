/** Checks that the files of an operation can be streamed to where its plan needs them. No I/O. */
import { fail } from '@trestle/schema/errors';
import type { FetchStep, PlanStep, Program } from '../program/program.ts';
import { ONE_FETCH, findFiles } from '../request/upload.ts';

/** Throws VALIDATION_ERROR for files in an operation that is no mutation, and for a plan of which several fetches need files. */
export function checkFiles({ kind, plan }: Pick<Program, 'kind' | 'plan'>, variables: Readonly<Record<string, unknown>>): void {
  if (kind !== 'mutation') throw fail('VALIDATION_ERROR', 'Only mutations can have files.');
  const fetches = plan ? listFetches(plan) : [];
  if (fetches.filter((step) => findFiles(variables, step.variables)).length > 1) throw fail('VALIDATION_ERROR', ONE_FETCH);
}

function listFetches(step: PlanStep): readonly FetchStep[] {
  switch (step.kind) {
    case 'fetch':
      return [step];
    case 'sequence':
    case 'parallel':
    case 'graph':
      return step.steps.flatMap(listFetches);
    case 'condition':
      return [step.then, step.otherwise].flatMap((each) => (each ? listFetches(each) : []));
  }
}
