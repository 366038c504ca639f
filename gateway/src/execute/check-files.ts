/** Checks that the files of an operation can be streamed to where its plan needs them. No I/O. */
import { fail } from '@trestle/schema/errors';
import { listFetches } from '../program/list-fetches.ts';
import type { Program } from '../program/program.ts';
import { ONE_FETCH, findFiles } from '../request/upload.ts';

/** Throws VALIDATION_ERROR for files in an operation that is no mutation, and for a plan of which several fetches need files. */
export function checkFiles({ kind, plan }: Pick<Program, 'kind' | 'plan'>, variables: Readonly<Record<string, unknown>>): void {
  if (kind !== 'mutation') throw fail('VALIDATION_ERROR', 'Only mutations can have files.');
  if (listFetches(plan).filter((step) => findFiles(variables, step.variables)).length > 1) throw fail('VALIDATION_ERROR', ONE_FETCH);
}
