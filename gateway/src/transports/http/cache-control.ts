/** Chooses the `Cache-Control` of a result: `no-store`, unless all that it is made of may be cached (RFC 9111). No I/O. */
import type { IncomingMessage } from 'node:http';
import { NO_STORE_TEXT, writeCachePolicy } from '../../request/cache-policy.ts';
import type { RequestContext } from '../../request/context.ts';
import type { OperationResult } from '../../request/operation.ts';

/**
 * Returns the value of `Cache-Control`. Only a query by GET without errors may be cached, and only by the client itself when headers of its request,
 * such as its credential, were sent to subgraphs, because the result may depend on them (RFC 9111 §5.2.2.7).
 */
export function chooseCacheControl(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  { fetchLog, identity }: Pick<RequestContext, 'fetchLog' | 'identity'>,
  { outcome, operationKind }: Pick<OperationResult, 'outcome' | 'operationKind'>,
): string {
  if ((method !== 'GET' && method !== 'HEAD') || outcome !== 'complete' || operationKind !== 'query') return NO_STORE_TEXT;
  const policy = fetchLog.cachePolicy;
  if (policy === undefined || REPORTS.some((name) => headers[name] !== undefined)) return NO_STORE_TEXT;
  return writeCachePolicy(identity.length > 0 ? { ...policy, isPrivate: true } : policy);
}

/** These request headers change the result, and are not in `Vary`. */
const REPORTS = ['trestle-plan', 'trestle-cost', 'trestle-snapshot'];
