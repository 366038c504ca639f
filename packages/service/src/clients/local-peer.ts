/** Finds the requests that come from the machine itself: only its operators may read details of a process. */
import type { IncomingHttpHeaders } from 'node:http';

const LOOPBACK = /^(?:::ffff:)?127\.|^::1$/;

/** Headers that proxies add (RFC 7239, RFC 9110 §7.6.3, and older names). Behind a local proxy, every client has a loopback address. */
const OF_PROXIES = ['forwarded', 'via', 'x-real-ip'];

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

/** Returns whether the peer has an address of the loopback interface. */
export function isLoopback({ remoteAddress = '' }: Received['socket']): boolean {
  return LOOPBACK.test(remoteAddress);
}

/** Returns whether the request comes from the machine itself and passed no proxy. */
export function isLocalRequest({ headers, socket }: Received): boolean {
  if (!isLoopback(socket) || OF_PROXIES.some((name) => headers[name] !== undefined)) return false;
  return !Object.keys(headers).some((name) => name.startsWith('x-forwarded'));
}
