/** Stage 1: from a URL to a version and a path (spec §9, contract §4, §6). No I/O. */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { selectVersion } from '../versions/select.ts';
import type { Versions } from '../versions/versions.ts';

/** Where a request is aimed at. */
export interface Located {
  /** The prefix as the client wrote it, e.g. `/api/v1`; empty for an unversioned path. */
  readonly prefix: string;
  /** `/api`, or empty. */
  readonly api: string;
  /** Below the prefix. */
  readonly path: string;
  readonly search: URLSearchParams;
  readonly version: number;
}

const MAX_URL_BYTES = 8 * 1024;
const PREFIX = /^(\/api)?\/v(\d{1,9})(?=\/|$)/;
const NO_SEARCH = new URLSearchParams();

/** Throws URI_TOO_LONG, or what `selectVersion` throws. */
export function locate(versions: Versions, { url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>): Located {
  if (url.length > MAX_URL_BYTES) throw fail('URI_TOO_LONG', `The URL must not be longer than ${String(MAX_URL_BYTES)} bytes`);
  const mark = url.indexOf('?');
  const pathname = readPathname(mark < 0 ? url : url.slice(0, mark));
  const search = mark < 0 ? NO_SEARCH : new URLSearchParams(url.slice(mark + 1));
  const [prefix = '', api = '', digits] = PREFIX.exec(pathname) ?? [];
  const version = selectVersion(versions, {
    path: digits,
    header: headers['api-version'] as string | undefined,
    accept: headers.accept,
    query: search.get('version'),
  });
  // Without a version, `/api/users` is `/users`.
  const bare = prefix === '' && /^\/api(?=\/|$)/.test(pathname) ? '/api' : prefix;
  return { prefix: bare, api: api || (bare === '/api' ? bare : ''), path: pathname.slice(bare.length), search, version };
}

/** A request line may also hold a whole URL (RFC 9112 §3.2.2). */
function readPathname(target: string): string {
  if (!/^https?:\/\//i.test(target)) return target;
  try {
    return new URL(target).pathname;
  } catch {
    throw fail('NOT_FOUND', 'There is no such path');
  }
}
