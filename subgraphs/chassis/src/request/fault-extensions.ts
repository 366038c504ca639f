/** The members of `extensions` that a fault has besides its code and the id of the request (spec §7.1). No I/O. */
import { toRefusalExtensions } from '@trestle/identity/credentials/challenge';
import type { Fault } from '@trestle/schema/errors';

/** Returns the members that the fault has. */
export function toFaultExtensions(fault: Fault): Readonly<Record<string, unknown>> {
  const { details, retryAfterSeconds: retryAfter, rateLimit } = fault;
  return {
    ...(details && { details }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...rateLimit,
    ...toRefusalExtensions(fault),
  };
}
