/** Reads the header `Cookie` (RFC 6265 §4.2.1). No I/O. */

/** Returns the values of all cookies with a name, whose case matters, in their order. A browser sends several when other hosts of a site have added some. */
export function readCookies(header: string | undefined, name: string): string[] {
  if (!header?.includes(name)) return [];
  return header.split(';').flatMap((pair) => {
    const end = pair.indexOf('=');
    return end >= 0 && pair.slice(0, end).trim() === name ? [pair.slice(end + 1).trim()] : [];
  });
}
