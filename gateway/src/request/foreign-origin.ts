/** Headers that a browser adds by itself, in requests of pages whose origin is not allowed. No I/O. */
import type { IsAllowedOrigin, OriginRequest } from '@trestle/service/edge/allowed-origin';
import { passedClientOf } from '@trestle/service/clients/client-id';

/** Headers by which a browser proves more than the client's own credential: pages of other origins must not use them. */
const OF_BROWSER: ReadonlySet<string> = new Set(['cookie', 'origin']);

/** Returns whether a header, by its name in lower case, is left out of requests of foreign origins. */
export function isOfBrowser(name: string): boolean {
  return OF_BROWSER.has(name);
}

/** Returns whether the origin is allowed, or another process of this system, which has checked it, passed the request on. False without `Origin`. */
export function isOfAllowedOrigin(request: OriginRequest, isAllowedOrigin: IsAllowedOrigin): boolean {
  return request.headers.origin !== undefined && (passedClientOf(request) !== undefined || isAllowedOrigin(request));
}
