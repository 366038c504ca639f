/** Stage 2: finds the route of a path and a method (RFC 9110 §9.3.7, §15.5.6). No I/O. */
import { fail } from '@trestle/schema/errors';
import type { RouteResponse } from '../http/response.ts';
import type { RouteTable } from '../routes/route-table.ts';
import type { Method } from '../routes/route.ts';
import { toAcceptHeaders } from './accepted-bodies.ts';
import type { CompiledRoute } from './compile.ts';
import type { LocatedRequest, MatchedRoute } from './context.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Throws NOT_IMPLEMENTED for a method that no route has. Runs before the path is matched. */
export function requireMethod(method: string): void {
  if (!METHODS.includes(method))
    throw fail('NOT_IMPLEMENTED', `Method ${method} is not supported. Supported methods: ${METHODS.join(', ')}.`);
}

/**
 * Returns the route, or the response to a request that needs none: a redirect, or the allowed methods. Throws NOT_FOUND for an unknown
 * path, and `MethodNotAllowed` when the path has no route for the method.
 */
export function match(table: RouteTable<CompiledRoute>, method: string, target: LocatedRequest): MatchedRoute | RouteResponse {
  const { prefix, path, search } = target;
  if (path === '*' && method === 'OPTIONS') return toMethodsResponse(METHODS.join(', '));
  // The root path of a version is the same with and without a trailing slash: `/v1/` is the path `/` below the server `/v1` of the OpenAPI document.
  const isSlashed = path.length > 1 && path.endsWith('/');
  const canonicalPath = isSlashed ? withoutTrailingSlashes(path) : path;
  const found = table(toSegments(canonicalPath));
  // Only known paths are redirected. They begin with a fixed name, so that a redirect cannot lead to another host (RFC 3986 §4.2, `//host`).
  if (!found) throw fail('NOT_FOUND', UNKNOWN_PATH);
  if (isSlashed) return toRedirect(method, `${prefix}${canonicalPath}`, search);
  const compiled = found.byMethod.get((method === 'HEAD' ? 'GET' : method) as Method);
  if (compiled) return { target, compiled, params: found.params };
  const allow = toAllow(found.byMethod);
  if (method === 'OPTIONS') return toMethodsResponse(allow, found.byMethod);
  throw new MethodNotAllowed(method, allow);
}

const UNKNOWN_PATH = 'The path does not match any route.';

/** The path has no route for the method. `renderError` answers METHOD_NOT_ALLOWED with `Allow`. */
export class MethodNotAllowed extends Error {
  readonly allow: string;

  /** `allow` is the value of the `Allow` header. */
  constructor(method: string, allow: string) {
    super(`Method ${method} is not allowed for the path. Allowed methods: ${allow}.`);
    this.allow = allow;
  }
}

/** Returns the response to OPTIONS: the allowed methods, and the media types that a body may have. */
export function toMethodsResponse(allow: string, byMethod?: ReadonlyMap<Method, CompiledRoute>): RouteResponse {
  const [post, patch] = [byMethod?.get('POST'), byMethod?.get('PATCH')];
  const accepts = { ...(post && toAcceptHeaders(post)), ...(patch && toAcceptHeaders(patch)) };
  const [common] = Array.from(byMethod?.values() ?? [], ({ route }) => route.headers);
  return { status: 200, headers: { ...common, allow, ...accepts } };
}

/** Returns 301 for GET and HEAD, and 308 otherwise: clients may change the method of a 301 to GET (contract §4). */
function toRedirect(method: string, pathname: string, search: URLSearchParams): RouteResponse {
  const query = search.size > 0 ? `?${search.toString()}` : '';
  return { status: method === 'GET' || method === 'HEAD' ? 301 : 308, headers: { location: `${pathname || '/'}${query}` } };
}

/** Uses a loop, because `/\/+$/` takes quadratic time for a long run of slashes. */
function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path.charAt(end - 1) === '/') end--;
  return path.slice(0, end);
}

function toAllow(byMethod: ReadonlyMap<Method, CompiledRoute>): string {
  const methods = [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}

/** Returns the decoded segments. Throws NOT_FOUND for invalid percent-encoding and for U+0000, which no id contains. */
function toSegments(path: string): string[] {
  const segments = path.slice(1).split('/');
  return path.includes('%') ? segments.map(decodeSegment) : segments;
}

function decodeSegment(segment: string): string {
  let decoded: string | undefined;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    // Refused below.
  }
  if (decoded === undefined || decoded.includes('\0')) throw fail('NOT_FOUND', UNKNOWN_PATH);
  return decoded;
}
