/** Sends the pages, and sets the headers of every page: nothing is loaded but the style sheet, nothing is framed, nothing is kept. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';

/**
 * Returns the headers of a page. Its forms may lead to this server, and on to the origins in `destinations` (CSP 3 §6.4.1). No script runs but
 * `script`, which is allowed by its hash.
 */
export function toPageHeaders(destinations: readonly string[] = [], script?: string): Readonly<Record<string, string>> {
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'`]),
    "style-src 'self'",
    'img-src data:',
    "base-uri 'none'",
    `form-action ${["'self'", ...destinations.flatMap(toSource)].join(' ')}`,
    "frame-ancestors 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  };
}

/** Sends a page. */
export function sendPage(response: ServerResponse, { status = 200, html, destinations, script, headers = {} }: PageResponse): void {
  response.writeHead(status, { ...toPageHeaders(destinations, script), ...headers, 'content-length': String(Buffer.byteLength(html)) });
  response.end(html);
}

/** A page and how it is sent. */
export interface PageResponse {
  readonly status?: number;
  readonly html: string;
  /** Addresses to which the form leads in the end. */
  readonly destinations?: readonly string[];
  /** The script of the page, if it has one. */
  readonly script?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Chromium applies `form-action` to redirects after a form too: the client's address must be named. */
function toSource(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const { protocol, host } = new URL(address);
  return [protocol === 'http:' || protocol === 'https:' ? `${protocol}//${host}` : protocol];
}
