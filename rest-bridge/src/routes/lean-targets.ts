/** The requests that the lean reader may read (ADR 55). No I/O. */
import type { Route } from './route.ts';

/**
 * Returns a pattern for the targets of reads whose responses are written in one piece: of resources and lists, in every version. Files and streams of
 * events need the responses of Node.js, and unversioned paths are rare.
 */
export function toLeanTargets(routes: readonly Route[], versions: readonly number[]): RegExp {
  const paths = routes.flatMap((route) => (isWhole(route) ? [route.path.replaceAll(/\{\w+\}/g, '[^/?]+')] : []));
  return new RegExp(`^/v(?:${versions.join('|')})(?:${paths.join('|')})(?:\\?|$)`);
}

function isWhole(route: Route): boolean {
  return 'operation' in route && route.method === 'GET' && route.success.content !== 'file' && !route.stream;
}
