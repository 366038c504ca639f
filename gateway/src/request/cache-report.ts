/** What a response cache did for a result, as `Cache-Status` (RFC 9211) and `Age` (RFC 9111). No I/O. */

/** `hit`: the result was kept. `miss`: it was executed. `bypass`: it was executed, and the cache was not asked. */
export type CacheReport =
  | { readonly kind: 'hit'; readonly ageSeconds: number; readonly ttlSeconds: number }
  | { readonly kind: 'miss'; readonly isStored: boolean; readonly isCollapsed: boolean }
  | { readonly kind: 'bypass' };

/** What the entity cache did for a query: of how many entities and results of fetches at the root it knew how many. Those that it was not asked for do not count. */
export interface FetchReport {
  wanted: number;
  found: number;
  /** Whether a fetch was sent that it was not asked for. */
  hasOthers: boolean;
}

/** Returns the value of `Cache-Status` for the entity cache. */
export function toFetchStatus({ wanted, found, hasOthers }: FetchReport): string {
  if (wanted > 0 && found === wanted && !hasOthers) return 'TrestleEntities; hit';
  const kind = found > 0 ? 'partial' : wanted > 0 ? 'uri-miss' : 'bypass';
  return `TrestleEntities; fwd=${kind}; detail="${String(found)} of ${String(wanted)}"`;
}

/** Returns the response headers. */
export function toCacheHeaders(report: CacheReport): Readonly<Record<string, string>> {
  if (report.kind === 'hit') {
    const { ageSeconds, ttlSeconds } = report;
    return { age: String(ageSeconds), 'cache-status': `Trestle; hit; ttl=${String(ttlSeconds)}` };
  }
  if (report.kind === 'bypass') return { 'cache-status': 'Trestle; fwd=bypass' };
  const { isStored, isCollapsed } = report;
  return { 'cache-status': `Trestle; fwd=uri-miss${isStored ? '; stored' : ''}${isCollapsed ? '; collapsed' : ''}` };
}
