/** What caches may do with a response (contract §4). No I/O. */

/** The request headers that select among the responses of one URL. */
export const VARY = 'Authorization, X-API-Key, API-Version, Accept, Accept-Encoding';

/** The facts about a response that decide how it may be cached. */
export interface CachingFacts {
  readonly isRead: boolean;
  readonly isAnonymous: boolean;
  /** False when a related resource failed and is missing from the body. */
  readonly isComplete: boolean;
  /** Whether the URL contained an API key: a cache would keep it with the response. */
  readonly hasUrlKey: boolean;
  /** `Cache-Control` of the gateway's response to an anonymous read; undefined for one that the gateway has no part in. */
  readonly gatewayPolicy?: string | undefined;
}

/**
 * Returns the value of `Cache-Control`: `no-store` for writes, incomplete responses and URLs with an API key, `private` for everything that was read with a
 * credential. Anonymous reads are `public`, for as long as the schema says (`@cacheControl`), else with revalidation.
 */
export function toCacheControl({ isRead, isAnonymous, isComplete, hasUrlKey, gatewayPolicy = '' }: CachingFacts): string {
  if (!isRead || !isComplete || hasUrlKey) return 'no-store';
  if (!isAnonymous || gatewayPolicy.startsWith('private')) return 'private, no-cache';
  return gatewayPolicy.startsWith('public') ? gatewayPolicy : 'public, max-age=0, must-revalidate';
}
