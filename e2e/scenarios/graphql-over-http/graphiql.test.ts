/** GraphiQL, which the gateway serves to browsers. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;
beforeAll(async () => {
  const sdl = 'type Query { hello: String }';
  federation = await startFederation({ greetings: { sdl, resolvers: { Query: { hello: () => 'Hello' } } } });
});
afterAll(() => federation.stop());

describe('GraphiQL', () => {
  const accept = 'text/html,*/*;q=0.8';
  const open = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    request(new URL(path, federation.url).href, { method, headers });

  it('is served to browsers at /graphql, with a viewport and a policy that allows this origin only', async () => {
    const page = await open('/graphql', { accept });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.text).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '').filter((path) => path !== 'data:,');
    expect(files).toHaveLength(2);
    for (const path of files) expect(path).toMatch(/^graphql\/assets\/app-[A-Z0-9]{8}\.(?:js|css)$/);
    expect((await open('/graphql', { accept }, 'HEAD')).headers.get('content-length')).toBe(page.headers.get('content-length'));
  });

  it('has compressed files with an unlimited cache time, workers included', async () => {
    const { text } = await open('/graphql', { accept });
    const script = /src="([^"]+)"/.exec(text)?.[1] ?? '';
    const found = new Set([script]);
    // Files name others, so that the set grows while it is walked.
    for (const path of found)
      for (const [, next] of (await open(path)).text.matchAll(/"(?:\.\/)?(\w+-[A-Z0-9]{8}\.js)"/g))
        found.add(`graphql/assets/${next ?? ''}`);
    const workers = ['editorWorkerService', 'json', 'graphql'].map((label) => [...found].find((path) => path.includes(`/${label}-`)) ?? '');
    for (const path of [script, ...workers])
      for (const encoding of ['br', 'gzip', 'identity']) {
        const headers = { 'accept-encoding': encoding };
        const [head, file] = [await open(path, headers, 'HEAD'), await open(path, headers)];
        expect(file.status).toBe(200);
        expect(file.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
        expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
        expect([head.text, head.headers.get('content-length')]).toEqual(['', file.headers.get('content-length')]);
      }
  });

  it('serves no files outside its folder', async () => {
    for (const path of ['/graphql/assets/..%2fmain.js', '/graphql/assets/manifest.json', '/graphql/assets/', '/graphql/assets/__proto__'])
      expect((await open(path)).status).toBe(404);
  });

  it('is the target of a redirect from / for browsers only', async () => {
    const redirected = await open('/', { accept });
    expect([redirected.status, redirected.headers.get('location')]).toEqual([302, 'graphql']);
    expect((await open('/', { accept: 'application/json' })).status).toBe(404);
  });
});
