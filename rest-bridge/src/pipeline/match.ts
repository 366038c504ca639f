/** Stage 2: from a path and a method to a row (RFC 9110 §9.3.7, §15.5.6). No I/O. */
import { fail } from '@trestle/schema/errors';
import type { Method, Outcome } from '../routes/row.ts';
import type { Table } from '../routes/table.ts';
import type { CompiledRow } from './compile.ts';
import type { Located } from './locate.ts';

export interface Matched {
  readonly compiled: CompiledRow;
  readonly params: Readonly<Record<string, string>>;
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Throws NOT_IMPLEMENTED for a method that the server does not know: that comes before any question of the path. */
export function requireMethod(method: string): void {
  if (!METHODS.includes(method)) throw fail('NOT_IMPLEMENTED', 'The server does not know this method');
}

/**
 * Gives the row, or the answer of a path that needs none: a redirect, or the methods it takes. Throws NOT_FOUND for an unknown path,
 * NotAllowed for a known one with another method.
 */
export function match(table: Table<CompiledRow>, method: string, { prefix, path, search }: Located): Matched | Outcome {
  if (path === '*' && method === 'OPTIONS') return toMethods(METHODS.join(', '));
  // The root of a version is the same with and without its slash.
  const isSlashed = path.length > 1 && path.endsWith('/');
  const bare = isSlashed ? withoutLastSlashes(path) : path;
  const found = table(readSegments(bare));
  // Only to a known path, which begins with a fixed name: a redirect can't lead to another host (RFC 3986 §4.2, `//host`).
  if (!found) throw fail('NOT_FOUND', 'There is no such path');
  if (isSlashed) return toRedirect(method, `${prefix}${bare}`, search);
  const compiled = found.byMethod.get((method === 'HEAD' ? 'GET' : method) as Method);
  if (compiled) return { compiled, params: found.params };
  const allow = toAllow(found.byMethod);
  if (method === 'OPTIONS') return toMethods(allow, found.byMethod);
  throw new NotAllowed(allow);
}

/** The method is wrong; the renderer says METHOD_NOT_ALLOWED and which are right. */
export class NotAllowed extends Error {
  readonly allow: string;
  constructor(allow: string) {
    super('The path does not take this method');
    this.allow = allow;
  }
}

function toMethods(allow: string, byMethod?: ReadonlyMap<Method, CompiledRow>): Outcome {
  const accepts = {
    ...(byMethod?.get('POST')?.takesBody && { 'accept-post': 'application/json' }),
    ...(byMethod?.get('PATCH') && { 'accept-patch': 'application/json, application/merge-patch+json' }),
  };
  return { status: 200, headers: { allow, ...accepts } };
}

/** 301 lets clients change the method to GET, so that everything else gets 308 (contract §4). */
function toRedirect(method: string, pathname: string, search: URLSearchParams): Outcome {
  const query = search.size > 0 ? `?${search.toString()}` : '';
  return { status: method === 'GET' || method === 'HEAD' ? 301 : 308, headers: { location: `${pathname || '/'}${query}` } };
}

/** A loop, because `/\/+$/` looks at each run of slashes again from each of its places. */
function withoutLastSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path.charAt(end - 1) === '/') end--;
  return path.slice(0, end);
}

function toAllow(byMethod: ReadonlyMap<Method, CompiledRow>): string {
  const methods = [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}

/** A segment that is no valid percent-encoding, or holds what no database can, can't be the name of anything. */
function readSegments(path: string): string[] {
  const segments = path.slice(1).split('/');
  return path.includes('%') ? segments.map(decodeSegment) : segments;
}

function decodeSegment(segment: string): string {
  try {
    const decoded = decodeURIComponent(segment);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // Told below.
  }
  throw fail('NOT_FOUND', 'There is no such path');
}
