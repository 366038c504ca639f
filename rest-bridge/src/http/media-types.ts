/** The media types of JSON responses (RFC 8259, RFC 9457, contract §4). No I/O. */
import { toAcceptedTypes } from '@trestle/service/accept';

/** The media type of representations and error envelopes. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The media type of problem details. */
export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8';

/** Returns whether errors are sent as problem details: only when the client accepts them and no other JSON (RFC 9457, contract §4). */
export function wantsProblem(accept: string | undefined): boolean {
  if (!accept?.includes('problem+json')) return false;
  return toAcceptedTypes(accept, [PROBLEM_TYPE]).length > 0 && toAcceptedTypes(accept, [JSON_TYPE]).length === 0;
}
