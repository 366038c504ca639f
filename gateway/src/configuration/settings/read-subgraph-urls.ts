/** Reads the addresses of a subgraph that has several. */

/**
 * Returns the addresses of a list that is separated by commas or white space. Throws an Error for a list without an address, for one that is no URL of
 * HTTP or of a Unix domain socket, and for one that is listed twice: it would get twice its share of the requests, and is most often a mistake for
 * another one.
 */
export function readSubgraphUrls(text: string): string[] {
  const addresses = text.split(/[\s,]+/).filter((item) => item !== '');
  if (addresses.length === 0) throw new Error('must list an address');
  const known = new Set<string>();
  for (const [i, address] of addresses.entries()) {
    if (!URL.canParse(address) || !/^(?:https?:|unix:\/\/\/)/i.test(address))
      throw new Error('must be URLs that start with http://, https:// or unix:///');
    const { href } = new URL(address);
    if (known.has(href)) throw new Error(`must not list an address twice: number ${String(i + 1)} is a duplicate`);
    known.add(href);
  }
  return addresses;
}
