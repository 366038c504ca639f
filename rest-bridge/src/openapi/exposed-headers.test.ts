/** Scripts of other origins may read the response headers that OpenAPI names (Fetch Standard §4.4, "CORS-exposed response-header name"). */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { createCors } from '@trestle/service/edge/cors';

/** Those that every script may read, those that no script may, and those that are for caches. */
const OTHERS = ['cache-control', 'last-modified', 'set-cookie', 'vary'];
const ORIGIN = 'https://app.example';

interface Responses {
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** Returns the names of the response headers of every operation, in lower case. */
function listHeaders(version: string): string[] {
  const names = new Set<string>();
  const { paths } = JSON.parse(readFileSync(new URL(`../../../schema/openapi/${version}.json`, import.meta.url), 'utf8')) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly responses?: Readonly<Record<string, Responses>> }>>>>;
  };
  for (const operations of Object.values(paths))
    for (const { responses = {} } of Object.values(operations))
      for (const { headers = {} } of Object.values(responses)) for (const name of Object.keys(headers)) names.add(name.toLowerCase());
  return [...names];
}

describe('CORS', () => {
  it.each(['v1', 'v2'])('lets scripts read the response headers of the OpenAPI document %s', (version) => {
    const headers = createCors({ origins: [ORIGIN], methods: ['GET'] }).headersFor({ headers: { origin: ORIGIN } });
    const exposed = (headers[headers.indexOf('access-control-expose-headers') + 1] ?? '').toLowerCase().split(', ');
    const names = listHeaders(version);
    expect(names).toContain('content-disposition');
    expect(names.filter((name) => !exposed.includes(name) && !OTHERS.includes(name))).toEqual([]);
  });
});
