/** What the registry shows to browsers: GraphiQL and a reference of its API, linked on the page of the bridge (issue 17 point 9). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildClientSchema, getIntrospectionQuery } from 'graphql';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import { request, until } from '../../stack/clients/client.ts';
import { type TestRegistry, startRegistry } from './registry-client.ts';

const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const PATIENCE_MS = 90_000;

let registry: TestRegistry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());

const get = (path: string, headers: Record<string, string> = {}) => request(`${registry.url}${path}`, { method: 'GET', headers });

/** Returns the statuses and routes of the GET requests that were counted. */
async function countRoutes(): Promise<string[]> {
  const { text } = await get('/metrics');
  const counted = text.matchAll(/_seconds_count\{http_request_method="GET",http_route=("[^"]*"),http_response_status_code="(\d+)"\}/g);
  return [...counted].map(([, route = '', status = '']) => `${status} ${route}`);
}

describe('GET /graphql of the registry', () => {
  it('serves GraphiQL with its files to browsers, and GraphQL to any other client', async () => {
    const page = await get('/graphql', BROWSER);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /);
    const assets = [...page.text.matchAll(/"(graphql\/assets\/[^"]+)"/g)].map(([, path]) => `/${path ?? ''}`);
    expect(assets.length).toBe(2);
    for (const path of assets) expect([path, (await get(path)).status]).toEqual([path, 200]);
    expect((await get('/graphql/assets/manifest.json')).status).not.toBe(200);
    const { data } = await registry.graphql<object>('{ environments { name } }');
    expect(data).toEqual({ environments: [] });
    expect((await get('/graphql?query=%7B__typename%7D', { accept: 'application/json' })).body).toEqual({ data: { __typename: 'Query' } });
  });

  it('describes every field to GraphiQL without a token, and shows no data without one', async () => {
    const { data } = await registry.graphql<Parameters<typeof buildClientSchema>[0]>(getIntrospectionQuery(), undefined, 'none');
    const fields = data && buildClientSchema(data).getMutationType()?.getFields();
    expect(fields?.['createContract']?.description).toContain('Needs `CONTRACT`');
    expect((await registry.graphql('{ environments { name } }', undefined, 'none')).errors[0]?.extensions.code).toBe('UNAUTHORIZED');
  });

  it('is where browsers are sent from /', async () => {
    const response = await fetch(`${registry.url}/`, { headers: BROWSER, redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'graphql']);
  });

  it('is counted as the route of GraphQL, with its files and the redirect to it', async () => {
    const [, script = ''] = /"(graphql\/assets\/[^"]+)"/.exec((await get('/graphql', BROWSER)).text) ?? [];
    await get(`/${script}`);
    await fetch(`${registry.url}/`, { headers: BROWSER, redirect: 'manual' });
    await get('/nothing');
    // A request is counted when its response has been sent, which may be after the client has it.
    await until(async () => (await countRoutes()).includes('404 ""'));
    expect(await countRoutes()).toEqual(expect.arrayContaining(['200 "/graphql"', '302 "/graphql"']));
    expect(await countRoutes()).not.toEqual(expect.arrayContaining(['200 ""']));
    expect(await countRoutes()).not.toEqual(expect.arrayContaining(['302 ""']));
  });
});

describe('GET /docs of the registry', () => {
  it('serves the reference of the API, without scripts and external resources', async () => {
    const page = await get('/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; /);
    expect(page.text).not.toMatch(/<script|src=|@import|url\(/);
    expect(page.text).toContain('<section id="Contract">');
    const head = await request(`${registry.url}/docs`, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await request(`${registry.url}/docs`, { method: 'POST' })).status).toBe(404);
  });
});

describeInChromium('in Chromium', () => {
  it(
    'shows both pages without a violation of their content security policy',
    async () => {
      const browser = await launchChromium();
      try {
        const page = await browser.newPage();
        const faults: string[] = [];
        page.on('console', (message) => {
          if (message.type() === 'error' || /content security policy/i.test(message.text())) faults.push(message.text());
        });
        page.on('pageerror', (error) => faults.push(error.message));
        await page.goto(`${registry.url}/docs`, { timeout: PATIENCE_MS });
        await page.goto(`${registry.url}/graphql`, { timeout: PATIENCE_MS });
        await page.locator('.monaco-editor').first().waitFor({ timeout: PATIENCE_MS });
        expect(faults).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    2 * PATIENCE_MS,
  );
});
