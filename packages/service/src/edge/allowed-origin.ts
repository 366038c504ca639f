/** The origins whose browsers may use cookies: that of the request itself, those of the public addresses, and those of a list (RFC 6454). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { createOriginList } from './origin-list.ts';

/** What is known of a request to decide about its origin. */
export interface OriginRequest {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean };
}

/** Configures the check of origins. */
export interface AllowedOriginOptions {
  /** The addresses under which clients find this process; their origins are allowed. */
  readonly publicUrls: readonly (string | undefined)[];
  /** Further allowed origins, and patterns (origin-list.ts). */
  readonly origins: readonly string[];
  /** Whether the client uses HTTPS; by default, whether the connection is encrypted. */
  readonly isSecure?: (request: OriginRequest) => boolean;
}

/** Returns whether the request names an allowed origin; false without `Origin`. */
export type IsAllowedOrigin = (request: OriginRequest) => boolean;

/** Creates the check of origins. `null`, which browsers send for opaque origins, is never allowed. */
export function createAllowedOrigin({ publicUrls, origins, isSecure = isEncrypted }: AllowedOriginOptions): IsAllowedOrigin {
  const allowed = createOriginList([...publicUrls.filter((url) => url !== undefined).map((url) => new URL(url).origin), ...origins]);
  return (request) => {
    const { origin, host } = request.headers;
    if (origin === undefined || origin === 'null') return false;
    if (allowed.has(origin)) return true;
    return host !== undefined && origin === `${isSecure(request) ? 'https' : 'http'}://${host.toLowerCase()}`;
  };
}

function isEncrypted({ socket }: OriginRequest): boolean {
  return socket.encrypted === true;
}
