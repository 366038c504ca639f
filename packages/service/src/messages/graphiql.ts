/** Serves GraphiQL to browsers that GET the path of GraphQL requests, from the bundle that `gateway/graphiql/build.mjs` makes, without other origins. */
import { readFile, readFileSync, readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { chooseEncoding } from './encoding.ts';

/** A request, and the response to it. */
export interface GraphiqlExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
}

interface Bundle {
  readonly folder: URL;
  readonly names: ReadonlySet<string>;
  readonly page: Buffer;
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  ttf: 'font/ttf',
  woff2: 'font/woff2',
};
const ENDINGS = { br: '.br', gzip: '.gz', identity: '' } as const;

/** Only this origin. Monaco writes styles into elements, and its fonts are in its style sheet. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves the page, its files below `assets/`, and the redirect from `/` to browsers. Returns whether the request was for one of these. Calls
 * `onSent` when the response was sent.
 */
export type ServeGraphiql = (exchange: GraphiqlExchange, onSent: () => void) => boolean;

/**
 * Creates the function that serves GraphiQL. `folder`: that of the bundle, which is loaded with the first request for it. `path`: that of GraphQL
 * requests; default `/graphql`. All references are relative, so a proxy in front may remove or add a prefix.
 */
export function createGraphiql(folder: URL, path = '/graphql'): ServeGraphiql {
  let loaded: Bundle | undefined;
  const assets = `${path === '/' ? '' : path}/assets/`;
  const load = () => (loaded ??= loadBundle(folder, assets));
  return (exchange, onSent) => {
    const { method, url = '/', headers } = exchange.request;
    if (method !== 'GET' && method !== 'HEAD') return false;
    const isBrowser = headers.accept?.includes('text/html') === true;
    if (url === path && isBrowser) {
      const head = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', vary: 'Accept' };
      send(exchange, { status: 200, head: { ...head, 'content-security-policy': PAGE_POLICY }, body: load().page });
    } else if (url === '/' && isBrowser)
      send(exchange, { status: 302, head: { location: path.slice(1), 'cache-control': 'no-store', vary: 'Accept' } });
    else if (url.startsWith(assets) && load().names.has(url.slice(assets.length))) {
      sendAsset(exchange, { name: url.slice(assets.length), bundle: load(), onSent });
      return true;
    } else return false;
    onSent();
    return true;
  };
}

interface Asset {
  readonly name: string;
  readonly bundle: Bundle;
  readonly onSent: () => void;
}

function sendAsset(exchange: GraphiqlExchange, { name, bundle, onSent }: Asset): void {
  const { names, folder } = bundle;
  const isCompressed = names.has(`${name}.br`);
  const encoding = isCompressed ? chooseEncoding(exchange.request.headers['accept-encoding'], Infinity) : 'identity';
  readFile(new URL(`${name}${ENDINGS[encoding]}`, folder), (error, body) => {
    if (error) exchange.response.destroy();
    else {
      const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
      // The name contains a hash of the content (RFC 8246).
      const head = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' };
      send(exchange, { status: 200, head: { ...head, ...(encoding !== 'identity' && { 'content-encoding': encoding }) }, body });
    }
    onSent();
  });
}

function send(
  { request, response, requestId }: GraphiqlExchange,
  { status, head, body = Buffer.alloc(0) }: { status: number; head: Readonly<Record<string, string>>; body?: Buffer },
): void {
  const always = { 'x-request-id': requestId, 'referrer-policy': 'same-origin' };
  response.writeHead(status, { ...head, ...always, 'content-length': String(body.length) });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function loadBundle(folder: URL, assets: string): Bundle {
  const { script, style } = JSON.parse(readFileSync(new URL('manifest.json', folder), 'utf8')) as { script: string; style: string };
  const names = new Set(readdirSync(folder).filter((name) => name !== 'manifest.json'));
  return { folder, names, page: Buffer.from(writePage(assets, { script, style })) };
}

/** Writes the page. Browsers resolve a relative reference against the folder of the page's path, so it begins with the path's last segment. */
function writePage(assets: string, { script, style }: { script: string; style: string }): string {
  const folder = assets.split('/').slice(-3).join('/').replace(/^\//, '');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${folder}${style}">
<script type="module" src="${folder}${script}"></script>
</head>
<body>
<div id="graphiql">Loading…</div>
<noscript>GraphiQL needs JavaScript.</noscript>
</body>
</html>
`;
}
