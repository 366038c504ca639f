/** Stage 1: splits the request target into version, path and parameters (spec §9, contract §4, §6). No I/O. */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { isUtf8 } from '@trestle/service/messages/query-string';
import type { ResponseHeaders } from '../http/response.ts';
import { selectVersion } from '../versions/select-version.ts';
import { DEFAULT_VERSION, type Versions } from '../versions/versions.ts';
import type { LocatedRequest } from './context.ts';

const MAX_URL_BYTES = 8 * 1024;
const PREFIX = /^(\/api)?\/v(\d{1,9})(?=\/|$)/;
/** The characters of a path (RFC 3986 §3.3). */
const PLAIN_PATH = /^[\w\-.~!$&'()*+,;=:@%/]*$/;
const OTHER_CHARACTERS = /[^\w\-.~!$&'()*+,;=:@%/]/g;
const NO_SEARCH = new URLSearchParams();

/** Throws URI_TOO_LONG above 8 KiB. Runs before anything reads the URL. */
export function requireUrlLength(url: string): void {
  if (url.length > MAX_URL_BYTES) throw fail('URI_TOO_LONG', `Request URL exceeds the limit of ${String(MAX_URL_BYTES)} bytes.`);
}

/**
 * Returns the parts of the request target. Throws NOT_FOUND for one that is neither a path nor `*`, VALIDATION_ERROR for a query string that is not UTF-8,
 * and what `selectVersion` throws.
 */
export function locate(versions: Versions, { url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>): LocatedRequest {
  if (!url.startsWith('/') && url !== '*') throw fail('NOT_FOUND', 'The request target is not a path.');
  const mark = url.indexOf('?');
  const pathname = toPathname(mark < 0 ? url : url.slice(0, mark));
  const search = mark < 0 ? NO_SEARCH : toSearch(url.slice(mark + 1));
  const [versionPrefix = '', api = '', digits] = PREFIX.exec(pathname) ?? [];
  // `/api/users` is the unversioned path `/users`.
  const prefix = versionPrefix === '' && /^\/api(?=\/|$)/.test(pathname) ? '/api' : versionPrefix;
  const place = { prefix, api: api || (prefix === '/api' ? prefix : ''), path: pathname.slice(prefix.length) };
  const version = selectVersion(versions, {
    path: digits,
    header: headers['api-version'] as string | undefined,
    accept: headers.accept,
    query: search.get('version'),
    fallback: versions.defaultAt(place),
  });
  return { ...place, search, version };
}

/**
 * Returns the headers by which a response to a request that is refused before it is matched names its API version, and the life cycle of the version
 * (contract §4). A request that selects no existing version has version 1.
 */
export function toVersionHeaders(versions: Versions, { url = '/', headers }: Pick<IncomingMessage, 'url' | 'headers'>): ResponseHeaders {
  // `Link` would contain the whole path.
  const target = url.length > MAX_URL_BYTES ? (PREFIX.exec(url)?.[0] ?? '/') : url;
  try {
    const located = locate(versions, { url: target, headers });
    return { 'api-version': String(located.version), ...versions.statusOf(located.version, located).headers };
  } catch {
    return UNVERSIONED;
  }
}

/** The version of a response that belongs to none: every response names one. */
export const UNVERSIONED: ResponseHeaders = { 'api-version': String(DEFAULT_VERSION) };

function toSearch(query: string): URLSearchParams {
  if (!isUtf8(query)) throw fail('VALIDATION_ERROR', 'The query string is not valid UTF-8.');
  // URLSearchParams would drop a first `?`, which belongs to the name of the parameter (RFC 3986 §3.4).
  return new URLSearchParams(query.startsWith('?') ? `&${query}` : query);
}

/**
 * Percent-encodes characters that a path cannot contain, because the path is written to `Location` and `Link`, where browsers read a backslash as a
 * slash.
 */
function toPathname(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  return path.replace(OTHER_CHARACTERS, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`);
}
