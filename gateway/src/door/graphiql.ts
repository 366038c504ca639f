/** GraphiQL for browsers at `GET /graphql`, from files of its own packages: nothing is loaded from anywhere else. */
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface Page {
  readonly contentType: string;
  readonly text: string;
}

const ASSETS = '/graphql/assets/';
const { resolve } = createRequire(import.meta.url);
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Read when they are asked for first. */
const FILES: Readonly<Record<string, { readonly file: string; readonly contentType: string }>> = {
  'react.js': { file: 'react/umd/react.production.min.js', contentType: JAVASCRIPT },
  'react-dom.js': { file: 'react-dom/umd/react-dom.production.min.js', contentType: JAVASCRIPT },
  'graphiql.js': { file: 'graphiql/graphiql.min.js', contentType: JAVASCRIPT },
  'graphiql.css': { file: 'graphiql/graphiql.min.css', contentType: 'text/css; charset=utf-8' },
};

const BOOT = `const socket = new URL('/graphql', location.href.replace(/^http/, 'ws')).href;
const fetcher = GraphiQL.createFetcher({ url: '/graphql', subscriptionUrl: socket });
ReactDOM.createRoot(document.getElementById('graphiql')).render(React.createElement(GraphiQL, { fetcher, defaultQuery: '{ __typename }' }));`;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>GraphiQL</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${ASSETS}graphiql.css">
<style>html, body, #graphiql { height: 100%; margin: 0 }</style>
</head>
<body>
<div id="graphiql">Loading…</div>
${['react.js', 'react-dom.js', 'graphiql.js', 'boot.js'].map((name) => `<script src="${ASSETS}${name}"></script>`).join('\n')}
</body>
</html>
`;

/** The page for a browser that asks for one at `/graphql`, or one of its files; undefined for any other request. */
export function findPage({ method, url = '/', headers }: IncomingMessage): Page | undefined {
  if (method !== 'GET') return undefined;
  if (url === '/graphql')
    return headers.accept?.includes('text/html') ? { contentType: 'text/html; charset=utf-8', text: PAGE } : undefined;
  if (!url.startsWith(ASSETS)) return undefined;
  const name = url.slice(ASSETS.length);
  if (name === 'boot.js') return { contentType: JAVASCRIPT, text: BOOT };
  const asset = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  return asset && { contentType: asset.contentType, text: readFileSync(toPath(asset.file), 'utf8') };
}

/** Packages do not all export the files that they bring for browsers. */
function toPath(file: string): string {
  const [name = '', ...rest] = file.split('/');
  return join(dirname(resolve(`${name}/package.json`)), ...rest);
}
