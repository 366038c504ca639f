/** What caches may do with an answer (contract §4). No I/O. */

/** Everything that may change an answer to the same URL. */
export const VARY = 'Authorization, X-API-Key, API-Version, Accept';

/** What was seen by right of a credential is never public; anonymous answers may be kept, and are checked again each time. */
export function toCacheControl({ isRead, isAnonymous }: { readonly isRead: boolean; readonly isAnonymous: boolean }): string {
  if (!isRead) return 'no-store';
  return isAnonymous ? 'public, max-age=0, must-revalidate' : 'private, no-cache';
}
