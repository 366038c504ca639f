/** Finds the graph that a request is for, by its path and host, when a process serves several. */
import type { GraphPlace } from './configuration/graph-places.ts';

/** The metadata of a resource is at the path of the resource behind this one (RFC 9728 §3.1). */
const METADATA_PATH = '/.well-known/oauth-protected-resource';

/** What of a request matters here. */
interface RoutedRequest {
  url?: string | undefined;
  readonly headers: { readonly host?: string | undefined };
}

interface Served {
  readonly place: GraphPlace;
}

/**
 * Returns the function that finds a request's graph and takes the graph's path off the request's URL; undefined for a request that is for none. Graphs with
 * hosts are preferred to those for any host, and a longer path to a shorter one.
 */
export function createGraphChooser<Graph extends Served>(graphs: readonly Graph[]): (request: RoutedRequest) => Graph | undefined {
  const bySpecificity = [...graphs].sort(
    ({ place: one }, { place: other }) =>
      Number(other.hosts.length > 0) - Number(one.hosts.length > 0) || other.path.length - one.path.length,
  );
  return (request) => {
    const { url = '/', headers } = request;
    const host = readHostName(headers.host);
    const prefix = url.startsWith(`${METADATA_PATH}/`) ? METADATA_PATH : '';
    const path = url.slice(prefix.length);
    const graph = bySpecificity.find(({ place }) => isBelow(path, place.path) && matchesHost(place, host));
    if (graph) request.url = prefix + path.slice(graph.place.path.length);
    return graph;
  };
}

/** Nothing is served at the path of a graph itself: from `/`, browsers would be redirected to a path that is not below it. */
function isBelow(url: string, path: string): boolean {
  return url.startsWith(`${path}/`) && (path === '' || url.length > path.length + 1);
}

function matchesHost({ hosts }: GraphPlace, host: string): boolean {
  return hosts.length === 0 || hosts.includes(host);
}

/** Returns the host of a request without its port and without the dot of an absolute name (RFC 1034 §3.1), in lower case. */
export function readHostName(host = ''): string {
  return host.replace(/\.?(?::\d*)?$/, '').toLowerCase();
}
