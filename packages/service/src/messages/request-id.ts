/** Decides the id of a request (spec §1). */
import { randomUUID } from 'node:crypto';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the id of a request: the value of its `X-Request-ID` header when that is a UUID, and a new UUID otherwise (spec §1).
 * Other values are not echoed, because the id appears in log lines and response headers.
 */
export function toRequestId(sent: unknown): string {
  return typeof sent === 'string' && UUID.test(sent) ? sent : randomUUID();
}
