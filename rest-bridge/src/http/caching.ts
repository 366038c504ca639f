/** What caches may do with an answer (contract §4). No I/O. */

/** Everything that may change an answer to the same URL. */
export const VARY = 'Authorization, X-API-Key, API-Version, Accept, Accept-Encoding';

/** What is not whole must not be kept. What was seen by right of a credential is never public; anonymous answers may be kept, and are checked again each time. */
export function toCacheControl({
  isRead,
  isAnonymous,
  isWhole,
}: {
  readonly isRead: boolean;
  readonly isAnonymous: boolean;
  readonly isWhole: boolean;
}): string {
  if (!isRead || !isWhole) return 'no-store';
  return isAnonymous ? 'public, max-age=0, must-revalidate' : 'private, no-cache';
}
