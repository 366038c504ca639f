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

const HEADER = /\r\nx-request-id:[\t ]*([\da-f-]{36})[\t ]*\r\n/i;
/** No head is longer (contract §6). */
const MAX_HEAD_BYTES = 16 * 1024;

/** Returns `X-Request-ID` of the head that the bytes begin with or within; undefined when it has none. */
export function findRequestId(bytes: Buffer): string | undefined {
  const text = bytes.toString('latin1', 0, MAX_HEAD_BYTES);
  const end = text.indexOf('\r\n\r\n');
  return HEADER.exec(end < 0 ? text : text.slice(0, end + 2))?.[1];
}
