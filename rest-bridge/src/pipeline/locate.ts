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
/** What a path may hold (RFC 3986 §3.3). */
const PLAIN_PATH = /^[\w\-.~!$&'()*+,;=:@%/]*$/;
const OTHER_CHARACTERS = /[^\w\-.~!$&'()*+,;=:@%/]/g;
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

/**
 * Returns the path of a request target, which may also be a whole URL (RFC 9112 §3.2.2). Characters that no path holds are
 * percent-encoded, because the path stands in `Location` and `Link` again: browsers read a backslash there as a slash.
 */
function readPathname(target: string): string {
  const pathname = /^https?:\/\//i.test(target) ? pathnameOf(target) : target;
  if (PLAIN_PATH.test(pathname)) return pathname;
  return pathname.replace(OTHER_CHARACTERS, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);
}

function pathnameOf(url: string): string {
  try {
    return new URL(url).pathname;
  } catch {
    throw fail('NOT_FOUND', 'The request target is not a valid URL');
  }
}
