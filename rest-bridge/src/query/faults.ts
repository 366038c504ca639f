/** Refuses a request with what is wrong with it, in an answer of bounded size (spec §7.1). No I/O. */
import { type FieldFault, fail } from '@trestle/schema/errors';

/** A body of 1 MiB can hold 100,000 unknown fields, each with a fault of its own. */
const MAX_DETAILS = 100;
const MAX_NAME_CHARACTERS = 100;

/** Throws VALIDATION_ERROR with the first hundred faults, names cut to a hundred characters; does nothing when there are none. */
export function rejectRequest(faults: readonly FieldFault[]): void {
  if (faults.length === 0) return;
  const details = faults.slice(0, MAX_DETAILS).map(({ field, message }) => ({ field: cut(field), message }));
  const rest = faults.length - details.length;
  throw fail(
    'VALIDATION_ERROR',
    rest > 0 ? `The request is not valid; ${String(rest)} more faults are not listed` : 'The request is not valid',
    {
      details,
    },
  );
}

function cut(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…` : name;
}
