/** Rejects an invalid request with an error of bounded size (spec §7.1). No I/O. */
import { type FieldFault, fail } from '@trestle/schema/errors';

/** A body of 1 MiB can hold 100,000 unknown fields, each with its own fault. */
const MAX_DETAILS = 100;
const MAX_NAME_CHARACTERS = 100;

/** Throws VALIDATION_ERROR with the first 100 faults of both lists, names cut to 100 characters. Does nothing when there are none. */
export function rejectRequest(first: readonly FieldFault[], second: readonly FieldFault[] = []): void {
  if (first.length === 0 && second.length === 0) return;
  const faults = [...first, ...second];
  const details = faults.slice(0, MAX_DETAILS).map(({ field, message }) => ({ field: truncate(field), message }));
  const rest = faults.length - details.length;
  const message = rest > 0 ? `The request is not valid. \`details\` omits ${String(rest)} more faults.` : 'The request is not valid';
  throw fail('VALIDATION_ERROR', message, { details });
}

function truncate(name: string): string {
  return name.length > MAX_NAME_CHARACTERS ? `${name.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…` : name;
}
