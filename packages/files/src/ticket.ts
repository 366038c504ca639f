/** Tickets by which the bridge reads one file of a subgraph, after it has asked the gateway whether the caller may. No I/O. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** The scheme of `Authorization` in requests with a ticket. */
const SCHEME = 'Trestle-File';
const LIFETIME_MS = 60_000;
const TICKET = /^Trestle-File (\d{1,15})\.([\w-]{43})$/;

/** Returns the value of `Authorization` for a path. `key` is the same in all processes of this system; the ticket is valid for a minute. */
export function signTicket(key: string, path: string, now: number): string {
  const expires = String(now + LIFETIME_MS);
  return `${SCHEME} ${expires}.${sign(key, path, expires)}`;
}

/** Returns whether the value of `Authorization` is a ticket for the path that has not expired. */
export function isTicketValid(
  key: string,
  path: string,
  { authorization, now }: { authorization: string | undefined; now: number },
): boolean {
  const [, expires = '', signature = ''] = TICKET.exec(authorization ?? '') ?? [];
  if (signature === '' || Number(expires) < now) return false;
  return timingSafeEqual(Buffer.from(signature), Buffer.from(sign(key, path, expires)));
}

function sign(key: string, path: string, expires: string): string {
  return createHmac('sha256', key).update(`file ${expires} ${path}`).digest('base64url');
}
