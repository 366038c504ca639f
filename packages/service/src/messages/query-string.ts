/** Checks query strings before they are decoded. */

const ENCODED_BYTES = /(?:%[\da-f]{2})+/gi;

/**
 * Returns whether the percent-encoded bytes of a query string are UTF-8 (WHATWG URL §5.1 decodes others to U+FFFD, which would change a
 * value without an error). A `%` that starts no encoded byte is allowed: it stands for itself.
 */
export function isUtf8(search: string): boolean {
  if (!search.includes('%')) return true;
  for (const [bytes] of search.matchAll(ENCODED_BYTES)) {
    try {
      decodeURIComponent(bytes);
    } catch {
      return false;
    }
  }
  return true;
}
