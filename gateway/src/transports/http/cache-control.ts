/** Chooses the `Cache-Control` of a result: `no-store`, unless all that it is made of may be cached (RFC 9111). No I/O. */
import type { IncomingMessage } from 'node:http';
import { type CachePolicy, NO_STORE_TEXT, toStrictest, writeCachePolicy } from '../../request/cache-policy.ts';
import { CLIENT_NAME_HEADERS, CLIENT_VERSION_HEADERS } from '../../request/caller.ts';
import type { RequestContext } from '../../request/context.ts';
import type { OperationResult } from '../../request/operation.ts';

/** The request headers that select among the responses of one URL. */
export const VARY = 'Accept, Accept-Encoding, Authorization, X-API-Key';

/**
 * Returns the value of `Cache-Control`. Only a query by GET without errors may be cached, and only by the client itself when headers of its request,
 * such as its credential, were sent to subgraphs, because the result may depend on them (RFC 9111 §5.2.2.7). For them hints of the schema
 * (`@cacheControl`) only restrict what all subgraphs allow.
 */
export function chooseCacheControl(
  request: Pick<IncomingMessage, 'method' | 'headers'>,
  { fetchLog, identity, extended }: Pick<RequestContext, 'fetchLog' | 'identity' | 'extended'>,
  { outcome, operationKind, caching }: Pick<OperationResult, 'outcome' | 'operationKind' | 'caching'>,
): string {
  if (!mayCache(request) || outcome !== 'complete' || operationKind !== 'query' || extended?.setsCookie === true) return NO_STORE_TEXT;
  const isAnonymous = identity.length === 0;
  const policy = isAnonymous && caching ? restrict(caching, fetchLog.restriction) : restrict(fetchLog.cachePolicy, caching);
  if (policy === undefined || REPORTS.some((name) => request.headers[name] !== undefined)) return NO_STORE_TEXT;
  return writeCachePolicy(isAnonymous ? policy : { ...policy, isPrivate: true });
}

/** A GET, and a POST of a client that caches for others, as the REST bridge does: it asks by this header. */
function mayCache({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'GET' || method === 'HEAD' || headers[CACHE_HEADER] === '1';
}

const CACHE_HEADER = 'trestle-cache';

/** Returns what both allow; a restriction that is undefined says nothing. */
function restrict(policy: CachePolicy | undefined, restriction: CachePolicy | undefined): CachePolicy | undefined {
  return policy && restriction ? toStrictest(policy, restriction) : policy;
}

/** These request headers change the result, and are not in `Vary`. */
const REPORTS = ['trestle-plan', 'trestle-cost', 'trestle-snapshot'];

/**
 * Returns `Vary` of the response to a request. Those that no cache may keep have it too: a cache may take one as a sign not to keep others that its
 * `Vary` matches, as Varnish does for two minutes. `readCacheVary` returns that of responses that may be kept.
 */
export function chooseVary({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>, readCacheVary: () => string): string {
  if (method !== 'GET' && method !== 'HEAD') return VARY;
  const vary = readCacheVary();
  const reports = REPORTS.filter((name) => headers[name] !== undefined);
  return reports.length === 0 || vary === '*' ? vary : `${vary}, ${reports.join(', ')}`;
}

interface VaryOptions {
  /** Names of headers that go to subgraphs, or have a token. */
  readonly changing: readonly string[];
  /** Whether headers go to subgraphs whose names are not known before. */
  readonly hasPatterns: boolean;
  /** What of the application that a request names decides which document it means (trusted documents). Default: nothing. */
  readonly isBy?: { readonly name: boolean; readonly version: boolean } | undefined;
}

/**
 * Returns `Vary` of responses that caches may keep: without it, a response to a request without these headers is served to one with them. It is `*`,
 * with which caches ask for each request again (RFC 9110 §12.5.5), where not all names are known.
 */
export function toCacheVary({ changing, hasPatterns, isBy }: VaryOptions): string {
  if (hasPatterns) return '*';
  return [VARY, ...new Set(changing), ...(isBy?.name ? CLIENT_NAME_HEADERS : []), ...(isBy?.version ? CLIENT_VERSION_HEADERS : [])].join(
    ', ',
  );
}
