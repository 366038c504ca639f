/** The headers of a request that go to the subgraphs with mutations only. No I/O. */
import type { IncomingMessage } from 'node:http';
import type { IsAllowedOrigin } from '@trestle/service/edge/allowed-origin';
import { isOfAllowedOrigin, isOfBrowser } from './foreign-origin.ts';
import { readIdempotencyHeaders } from './idempotency.ts';

export interface MutationHeaderOptions {
  /** Names, in lower case, of headers that go to the subgraphs with mutations. */
  readonly forwardMutationHeaders: readonly string[];
  readonly isAllowedOrigin: IsAllowedOrigin;
}

/**
 * Returns the headers that mutations carry, names and values in turn: the idempotency key, and the configured ones. `Cookie` and `Origin`
 * are left out unless the origin is allowed, or another process of this system, which has checked the origin, passed the request on. So a
 * subgraph may rely on an `Origin` that it receives. Throws VALIDATION_ERROR for an invalid idempotency key.
 */
export function readMutationHeaders(
  request: IncomingMessage,
  { forwardMutationHeaders, isAllowedOrigin }: MutationHeaderOptions,
): readonly string[] {
  const { headers } = request;
  const idempotency = readIdempotencyHeaders(headers);
  if (forwardMutationHeaders.length === 0) return idempotency;
  const isAllowed = isOfAllowedOrigin(request, isAllowedOrigin);
  const forwarded = forwardMutationHeaders.flatMap((name) => {
    const value = headers[name];
    return value === undefined || (isOfBrowser(name) && !isAllowed) ? [] : [name, String(value)];
  });
  return [...idempotency, ...forwarded];
}
