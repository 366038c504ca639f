/** Addresses below the endpoint of a target on the CDN of Hive. */

/** What Hive shows for a target with a supergraph ends with it. */
const SUPERGRAPH = 'supergraph';

/** Returns the address of `name` at an endpoint, which is given with or without the name of the supergraph at its end. */
export function toEndpoint(endpoint: string, name: string): string {
  const url = new URL(endpoint);
  const path = url.pathname.replace(/\/$/, '');
  const target = path.endsWith(`/${SUPERGRAPH}`) ? path.slice(0, -SUPERGRAPH.length - 1) : path;
  url.pathname = `${target}/${name}`;
  return url.href;
}
