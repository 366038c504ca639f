/** Where a server is: a host and a port, or a Unix domain socket. No I/O. */

/** Longer paths are cut off by the system, and could lead to another socket (Linux: `sockaddr_un`). */
const MAX_SOCKET_PATH_BYTES = 107;
const HTTP_PATH = /^\/[\x21-\x7e]*$/;

/** What connections and requests to a server need. */
export interface ServerAddress {
  /** For a Unix domain socket that of `localhost`, which requests name as their host. */
  readonly origin: string;
  /** The path of requests, with the query. */
  readonly path: string;
  /** The file of a Unix domain socket; undefined for a host. */
  readonly socketPath: string | undefined;
}

/**
 * Returns the address of a URL with `http:`, `https:` or `unix:`. `unix:///run/a.sock?path=/graphql` is the socket `/run/a.sock`, whose requests have the path
 * `/graphql`, or `/` without one. Throws an Error for a URL of a socket without an absolute path, with one of more than 107 bytes, or with a path of
 * requests that is not one.
 */
export function toServerAddress(url: URL): ServerAddress {
  const { protocol, origin, host, pathname, search, searchParams } = url;
  if (protocol !== 'unix:') return { origin, path: pathname + search, socketPath: undefined };
  const socketPath = decodeURIComponent(pathname);
  if (host !== '' || !/^\/[^\0]+$/.test(socketPath))
    throw new Error(`${url.href} must name a socket by its absolute path: unix:///run/a.sock`);
  if (Buffer.byteLength(socketPath) > MAX_SOCKET_PATH_BYTES)
    throw new Error(`The path of the socket in ${url.href} exceeds the limit of ${String(MAX_SOCKET_PATH_BYTES)} bytes`);
  const path = searchParams.get('path') ?? '/';
  if (!HTTP_PATH.test(path)) throw new Error(`\`path\` of ${url.href} must begin with / and have visible ASCII characters`);
  return { origin: 'http://localhost', path, socketPath };
}

/** Returns the key of a server: a connection to one server may be used for another with the same key. */
export function toServerKey({ origin, socketPath }: ServerAddress): string {
  return socketPath === undefined ? origin : `unix://${socketPath}`;
}
