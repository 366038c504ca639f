/** Tells requests of the machine itself from all others: details of a process are for those who operate it. */
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** What proxies add (RFC 7239, RFC 9110 §7.6.3, and the older names): behind one, a loopback peer may be anybody. */
const OF_PROXIES = ['forwarded', 'via', 'x-real-ip'];

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Whether the peer has an address of the loopback interface. */
export function isLoopback({ remoteAddress = '' }: Received['socket']): boolean {
  return LOOPBACK.test(remoteAddress);
}

/** Whether the request comes from the machine itself and passed no proxy. */
export function isLocalRequest({ headers, socket }: Received): boolean {
  if (!isLoopback(socket) || OF_PROXIES.some((name) => headers[name] !== undefined)) return false;
  return !Object.keys(headers).some((name) => name.startsWith('x-forwarded'));
}
