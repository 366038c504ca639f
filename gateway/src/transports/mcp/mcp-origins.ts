/** The origins of browsers that may call tools: an origin that names this server is trusted only where DNS cannot have been changed to that. No I/O. */
import { isIP } from 'node:net';
import type { IsAllowedOrigin } from '@trestle/service/edge/allowed-origin';
import { createOriginList } from '@trestle/service/edge/origin-list';

export interface McpOriginOptions {
  /** Those of the public addresses of the graph, and the listed ones. */
  readonly origins: readonly string[];
  /** Whether the request names its own host, or a listed origin. */
  readonly isAllowedOrigin: IsAllowedOrigin;
}

/**
 * Creates the check of origins against DNS rebinding: a page of `http://evil.example` whose name has been pointed to this machine names its own host in
 * `Origin` and `Host`. Listed origins are allowed, and the own one where its host is an address or `localhost`.
 */
export function createMcpOrigins({ origins, isAllowedOrigin }: McpOriginOptions): IsAllowedOrigin {
  const listed = createOriginList(origins);
  return (request) => {
    const { origin = '' } = request.headers;
    if (!isAllowedOrigin(request)) return false;
    return listed.has(origin) || isFixedHost(new URL(origin).hostname);
  };
}

/** `localhost` is resolved without DNS (RFC 6761 §6.3). */
function isFixedHost(name: string): boolean {
  return name === 'localhost' || isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0;
}
