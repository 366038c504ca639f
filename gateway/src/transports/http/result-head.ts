/** The headers of a response that has a result. */
import { NO_STORE_TEXT } from '../../request/cache-policy.ts';
import { toCacheHeaders, toFetchStatus } from '../../request/cache-report.ts';
import type { OperationResult } from '../../request/operation.ts';
import { type AdmittedRequest, isGet } from './admitted-request.ts';
import { chooseCacheControl } from './cache-control.ts';
import type { MediaType } from './negotiation.ts';
import { ALLOW } from './refusal.ts';
import { type Head, toRetryAfter } from './send.ts';

/** Returns the headers. `mediaType` is undefined for a client that accepts no media type of results. */
export function toHead(
  { exchange: { request }, context, options }: AdmittedRequest,
  mediaType: Pick<MediaType, 'contentType'> | undefined,
  result: OperationResult,
): Head {
  const { status, challenge, retryAfterSeconds } = result;
  const head: Record<string, string | string[]> = { 'content-type': mediaType?.contentType ?? 'application/json; charset=utf-8' };
  const reported = context.fetchLog.toHeaders(context.caller);
  for (const name in reported) head[name] = reported[name] as string | string[];
  const cacheControl = chooseCacheControl(request, context, result);
  head['cache-control'] = cacheControl;
  if (cacheControl !== NO_STORE_TEXT) head['vary'] = options.readCacheVary();
  if (result.cached) Object.assign(head, toCacheHeaders(result.cached));
  if (result.fetched) head['cache-status'] = [head['cache-status'] ?? [], toFetchStatus(result.fetched)].flat().join(', ');
  if (challenge !== undefined) head['www-authenticate'] = challenge;
  if (retryAfterSeconds !== undefined) Object.assign(head, toRetryAfter(retryAfterSeconds));
  if (status === 405) head['allow'] = isGet(request) ? 'POST' : ALLOW;
  return head;
}
