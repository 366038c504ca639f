/** Refuses heads of requests that Node's parser accepts and a server must not (RFC 9112 §2.3, §3.2, §6.1), and reads absolute request targets. */
import type { IncomingMessage } from 'node:http';
import { isHost } from '../messages/host.ts';

/** The beginning of `http://host/path?query`, with the authority. */
const ABSOLUTE = /^https?:\/\/([^/?#]*)/i;

/**
 * Returns whether the head is well-formed. A target in absolute form, as proxies send it, is replaced by its path and query, and `Host` by its
 * authority: every server must accept it, and ignore the `Host` beside it (RFC 9112 §3.2.2).
 */
export function readHead(request: IncomingMessage): boolean {
  if (isMalformed(request)) return false;
  const { url = '/', method, headers } = request;
  if (url.startsWith('/')) return true;
  const [beginning = '', authority] = ABSOLUTE.exec(url) ?? [];
  // `*` of OPTIONS, and what no route has.
  if (authority === undefined) return true;
  if (authority === '' || !isHost(authority)) return false;
  const rest = url.slice(beginning.length);
  headers.host = authority;
  if (rest === '') request.url = method === 'OPTIONS' ? '*' : '/';
  else request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return true;
}

/** A version other than 1.0 and 1.1, a transfer coding other than `chunked` or with version 1.0, anything but one well-formed `Host`. */
function isMalformed({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return true;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) return true;
  if (headers.host === undefined) return httpVersion === '1.1';
  return !isHost(headers.host) || countHosts(rawHeaders) > 1;
}

/** Counts in the raw headers, because `headers` has the first `Host` only. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') count++;
  return count;
}
