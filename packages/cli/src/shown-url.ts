/** Writes URLs for messages and logs, which may be public, without what may be secret. */

/** Returns a URL without its user, password, query and fragment. */
export function toShownUrl({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}

/** Returns a string that should be a URL with `***` in place of its user, password and query. */
export function maskCredentials(text: string): string {
  const [address = '', ...query] = text.replace(/^([^/]*\/\/)?.*@/su, '$1***@').split('?');
  return query.length > 0 ? `${address}?***` : address;
}
