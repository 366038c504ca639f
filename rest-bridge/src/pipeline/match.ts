/** Stage 1: from a URL and a method to a row (spec §9.1, RFC 9110 §15.5.6). No I/O. */
import { fail } from '@trestle/schema/errors';
import type { Method, Row } from '../routes/row.ts';
import type { Table } from '../routes/table.ts';
import type { CompiledRow } from './compile.ts';

export interface Matched {
  readonly compiled: CompiledRow;
  readonly params: Readonly<Record<string, string>>;
  readonly prefix: string;
  readonly path: string;
  readonly search: URLSearchParams;
  readonly isHead: boolean;
}

/** A path that is answered without a row. */
export interface Shortcut {
  readonly status: 200 | 301 | 308;
  readonly headers: Readonly<Record<string, string>>;
}

const METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']);
const PREFIX = /^(?:\/api)?\/v1(?=\/|$)/;

/** Throws NOT_FOUND for an unknown path, NotAllowed for a known one with another method, NOT_IMPLEMENTED for an unknown method. */
export function match(
  table: Table<CompiledRow>,
  { method = 'GET', url = '/' }: { method?: string | undefined; url?: string | undefined },
): Matched | Shortcut {
  if (!METHODS.has(method)) throw fail('NOT_IMPLEMENTED', 'The server does not know this method');
  const mark = url.indexOf('?');
  const pathname = mark < 0 ? url : url.slice(0, mark);
  const search = new URLSearchParams(mark < 0 ? '' : url.slice(mark + 1));
  if (pathname.length > 1 && pathname.endsWith('/')) return toSlashless(method, { pathname, query: mark < 0 ? '' : url.slice(mark) });

  const prefix = PREFIX.exec(pathname)?.[0] ?? '';
  const path = pathname.slice(prefix.length);
  const found = table(readSegments(path));
  if (!found) throw fail('NOT_FOUND', 'There is no such path');
  const allow = toAllow(found.byMethod);
  if (method === 'OPTIONS') return { status: 200, headers: { allow } };
  const compiled = found.byMethod.get((method === 'HEAD' ? 'GET' : method) as Method);
  if (!compiled) throw new NotAllowed(allow);
  return { compiled, params: found.params, prefix, path, search, isHead: method === 'HEAD' };
}

/** The method is wrong; the renderer says METHOD_NOT_ALLOWED and which are right. */
export class NotAllowed extends Error {
  readonly allow: string;
  constructor(allow: string) {
    super('The path does not take this method');
    this.allow = allow;
  }
}

/** 301 lets clients change the method to GET, so that everything else gets 308 (contract §4). */
function toSlashless(method: string, { pathname, query }: { pathname: string; query: string }): Shortcut {
  const location = `/${pathname.replace(/^\/+|\/+$/g, '')}${query}`;
  return { status: method === 'GET' || method === 'HEAD' ? 301 : 308, headers: { location } };
}

function toAllow(byMethod: ReadonlyMap<Method, { readonly row: Row }>): string {
  const methods = [...byMethod.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...methods, 'OPTIONS'].join(', ');
}

/** A segment that is no valid percent-encoding, or holds what no database can, can't be the name of anything. */
function readSegments(path: string): string[] {
  const segments = path.slice(1).split('/').map(decodeSegment);
  if (segments.some((segment) => segment.includes('\0'))) throw fail('NOT_FOUND', 'There is no such path');
  return segments;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw fail('NOT_FOUND', 'There is no such path');
  }
}
