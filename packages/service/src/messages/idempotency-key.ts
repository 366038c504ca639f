/** Checks the headers that make a retried write safe (spec §8, contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';

const KEY = /^[\x21-\x7e]{1,255}$/;
const SCOPE = /^[A-Z]+ \/[\x21-\x7e]{0,2047}$/;

/** The values of the two headers as Node.js parsed them; undefined for a header that was not sent. */
export interface IdempotencyHeaders {
  readonly key: unknown;
  /** `<METHOD> <path>` of the REST request behind an operation. Only the bridge sends it. */
  readonly scope?: unknown;
}

/** Returns one fault for each header that was sent and is malformed; an empty list when both are valid or absent. */
export function findIdempotencyFaults({ key, scope }: IdempotencyHeaders): FieldFault[] {
  const faults: FieldFault[] = [];
  if (key !== undefined && !(typeof key === 'string' && KEY.test(key)))
    faults.push({ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' });
  if (scope !== undefined && !(typeof scope === 'string' && SCOPE.test(scope)))
    faults.push({ field: 'Idempotency-Scope', message: 'must be a method and a path' });
  return faults;
}
