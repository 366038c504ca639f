/** What browsers send to other sites only after a preflight request, which allowed origins alone pass (Fetch Standard, "CORS protocol"). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';

const HEADERS = ['apollo-require-preflight', 'authorization', 'x-api-key'];

/** Returns whether a request has a header that needs a preflight request. */
export function hasPreflightedHeader(headers: IncomingHttpHeaders): boolean {
  return HEADERS.some((name) => headers[name] !== undefined);
}

/** Returns whether a body is JSON by its content type, which needs a preflight request too. */
export function isJsonType(contentType: string): boolean {
  return /^application\/json\s*(?:;|$)/i.test(contentType);
}
