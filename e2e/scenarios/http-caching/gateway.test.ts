/** `@cacheControl` of a supergraph as `Cache-Control` of the gateway, kept to by shared caches: undici's, nginx and Varnish. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent, type Dispatcher, fetch as fetchByUndici, interceptors } from 'undici';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { CACHES, startCache } from '../../stack/processes/caches.ts';
import type { Front } from '../../stack/processes/front.ts';

const CACHE_CONTROL = `
extend schema @link(url: "https://trestle.example/cacheControl/v0.1", import: ["@cacheControl"]) @composeDirective(name: "@cacheControl")
enum cacheControl__Scope { PUBLIC PRIVATE }
directive @cacheControl(maxAge: Int, scope: cacheControl__Scope, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
`;
const SOURCES = {
  lamps: {
    sdl: `${CACHE_CONTROL}
      type Query { lamp: Lamp @cacheControl(maxAge: 60) mine: Lamp @cacheControl(maxAge: 60, scope: PRIVATE) plain: Int failing: Int @cacheControl(maxAge: 60)
        secret: Int @authenticated @cacheControl(maxAge: 60) }
      type Lamp @key(fields: "id") { id: ID! }
      type Mutation { dim: Int @cacheControl(maxAge: 60) }`,
    resolvers: {
      Query: {
        lamp: () => ({ id: '1' }),
        mine: () => ({ id: '2' }),
        plain: () => 1,
        failing: () => {
          throw new Error('broken');
        },
      },
      Mutation: { dim: () => 1 },
    },
  },
  prices: {
    sdl: `${CACHE_CONTROL}
      type Lamp @key(fields: "id") { id: ID! price: Int @cacheControl(maxAge: 20) stock: Int }`,
    resolvers: { Lamp: { __resolveReference: (lamp: object) => lamp, price: () => 5, stock: () => 3 } },
  },
};
const RULES = `
headers:
  request: [{ propagate: X-Tenant }]
  response: [{ propagate: Cache-Control }]
`;
const PRICE = '{ lamp { price } }';
const CREDENTIAL = { authorization: 'Basic YTpi' };

describe.each(['trestle', 'apollo'])('@cacheControl, with the engine %s', (engine) => {
  let folder: string;
  let federation: Federation;
  let dispatcher: Dispatcher;
  const fronts = new Map<string, Front>();
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-http-caching-'));
    await writeFile(join(folder, 'rules.yaml'), RULES);
    federation = await startFederation(SOURCES, { args: ['--config', join(folder, 'rules.yaml')], env: { GATEWAY_ENGINE: engine } });
    dispatcher = new Agent().compose(interceptors.cache({ type: 'shared' }));
    for (const { name, isInstalled } of CACHES) if (isInstalled) fronts.set(name, await startCache(name, federation.gateway.port));
  });
  afterEach(() => {
    federation.received.length = 0;
    federation.intercept = undefined;
  });
  afterAll(async () => {
    await Promise.all([dispatcher.close(), ...[...fronts.values()].map((front) => front.stop())]);
    await federation.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const get = (query: string, headers: Record<string, string> = {}, parameters = '') =>
    fetch(`${federation.url}?query=${encodeURIComponent(query)}${parameters}`, { headers });
  const cacheControlOf = async (...given: Parameters<typeof get>) => (await get(...given)).headers.get('cache-control');

  it('sends the same for a compressed result, whose Vary names Accept-Encoding', async () => {
    const prices = Array.from({ length: 25 }, (_, index) => `price_of_the_lamp_in_the_entrance_hall_${String(index)}: price`);
    const query = `{ lamp { id ${prices.join(' ')} } }`;
    // `fetch` decompresses the body, and leaves the header.
    const compressed = await get(query, { 'accept-encoding': 'gzip' });
    expect([compressed.status, compressed.headers.get('content-encoding')]).toEqual([200, 'gzip']);
    expect(compressed.headers.get('vary')).toContain('Accept-Encoding');
    const plain = await get(query, { 'accept-encoding': 'identity' });
    expect([plain.headers.get('content-encoding'), plain.headers.get('vary')]).toEqual([null, compressed.headers.get('vary')]);
    for (const { headers } of [compressed, plain]) expect(headers.get('cache-control')).toBe('public, max-age=20');
    expect(await compressed.text()).toBe(await plain.text());
  });

  it('answers 304 without a body to a cache that has the result, and 200 when the result has changed', async () => {
    const first = await get(PRICE);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    const known = await get(PRICE, { 'if-none-match': `"x", ${etag}` });
    expect([known.status, await known.text(), known.headers.get('content-type')]).toEqual([304, '', null]);
    for (const name of ['etag', 'cache-control', 'vary']) expect(known.headers.get(name)).toBe(first.headers.get(name));
    const head = await fetch(`${federation.url}?query=${encodeURIComponent(PRICE)}`, {
      method: 'HEAD',
      headers: { 'if-none-match': etag },
    });
    expect(head.status).toBe(304);
    const other = await get('{ lamp { id price } }', { 'if-none-match': etag });
    expect([other.status, other.headers.get('etag') === etag]).toEqual([200, false]);
  });

  it('has no entity tag for what no cache may keep, and ignores If-None-Match there', async () => {
    for (const headers of [CREDENTIAL, { 'trestle-cost': '1' }]) {
      const reply = await get(PRICE, { ...headers, 'if-none-match': '*' });
      expect([reply.status, reply.headers.get('etag')]).toEqual([200, null]);
    }
    expect((await federation.ask(PRICE, {}, { 'if-none-match': '*' })).headers.get('etag')).toBeNull();
  });

  it('sends the minimum over what is selected from all subgraphs', async () => {
    expect(await cacheControlOf('{ lamp { id } }')).toBe('public, max-age=60');
    expect(await cacheControlOf(PRICE)).toBe('public, max-age=20');
    expect(await cacheControlOf('{ a: lamp { ...F } } fragment F on Lamp { stock b: price }')).toBe('public, max-age=20');
    expect(await cacheControlOf('{ lamp { id } plain }')).toBe('no-store');
    expect(await cacheControlOf('{ lamp { id } mine { price } }')).toBe('private, max-age=20');
  });

  it('sends what @include leaves for these variables', async () => {
    const query = 'query ($all: Boolean!) { lamp { id price @include(if: $all) } }';
    const of = (all: boolean) => cacheControlOf(query, {}, `&variables=${encodeURIComponent(JSON.stringify({ all }))}`);
    expect([await of(true), await of(false)]).toEqual(['public, max-age=20', 'public, max-age=60']);
  });

  it('sends no-store for a POST, a mutation, errors, a protected field and a report', async () => {
    expect((await federation.ask(PRICE)).headers.get('cache-control')).toBe('no-store');
    expect((await federation.ask('mutation { dim }', {}, { 'trestle-cache': '1' })).headers.get('cache-control')).toBe('no-store');
    for (const query of ['{ lamp { id } failing }', '{ lamp { id } secret }', '{ lamp { nothing } }'])
      expect(await cacheControlOf(query)).toBe('no-store');
    expect(await cacheControlOf(PRICE, { 'trestle-cost': '1' })).toBe('no-store');
  });

  it('sends no-store for a request whose credential or header went to a subgraph', async () => {
    expect(await cacheControlOf(PRICE, CREDENTIAL)).toBe('no-store');
    expect(await cacheControlOf(PRICE, { 'x-tenant': 'acme' })).toBe('no-store');
  });

  it('names the headers that rules pass on in Vary of what may be cached', async () => {
    const vary = (await get(PRICE)).headers.get('vary')?.split(', ') ?? [];
    expect(vary).toEqual(expect.arrayContaining(['Accept', 'Accept-Encoding', 'Authorization', 'X-API-Key', 'x-tenant']));
  });

  it('is restricted by the Cache-Control of a subgraph, which cannot extend it', async () => {
    const send = (value: string) => {
      federation.intercept = ({ subgraph }, _, response) => {
        if (subgraph === 'prices') response.setHeader('cache-control', value);
      };
      return cacheControlOf(PRICE);
    };
    expect(await send('max-age=7, s-maxage=15')).toBe('public, max-age=7, s-maxage=15');
    expect(await send('max-age=600')).toBe('public, max-age=20');
    expect(await send('private, max-age=600')).toBe('private, max-age=20');
    expect(await send('no-store')).toBe('no-store');
    federation.intercept = (_, __, response) => {
      response.setHeader('cache-control', 'max-age=50');
    };
    for (const query of ['{ plain }', '{ lamp { id } plain }', '{ __schema { __typename } lamp { id } }', '{ secret }'])
      expect(await cacheControlOf(query)).toBe('no-store');
    expect(await cacheControlOf('{ mine { id } }')).toBe('private, max-age=50');
    expect(await cacheControlOf('{ plain }', CREDENTIAL)).toBe('no-store');
    expect(await cacheControlOf('{ lamp { id } }', CREDENTIAL)).toBe('private, max-age=50');
  });

  it('answers a POST with the header that asks for it as a GET', async () => {
    expect((await federation.ask(PRICE, {}, { 'trestle-cache': '1' })).headers.get('cache-control')).toBe('public, max-age=20');
    expect((await federation.ask(PRICE, {}, { 'trestle-cache': '1', ...CREDENTIAL })).headers.get('cache-control')).toBe('no-store');
  });

  /** Returns how many requests subgraphs got for a response through a cache. */
  const fetchesOf = async (through: string, headers: Record<string, string> = {}, query = PRICE) => {
    federation.received.length = 0;
    const front = fronts.get(through);
    const url = `${front ? `${front.url}/graphql` : federation.url}?query=${encodeURIComponent(query)}`;
    const response = await fetchByUndici(url, { headers, ...(through === 'undici' && { dispatcher }) });
    expect(response.status).toBe(200);
    await response.text();
    return federation.received.length;
  };

  const caches = [{ name: 'undici', isInstalled: true }, ...CACHES];
  for (const { name, isInstalled } of caches)
    (isInstalled ? it : it.skip)(`is kept by ${name}, for anonymous clients only`, async () => {
      expect(await fetchesOf(name)).toBe(2);
      // A client may have a response before the cache has stored it.
      await until(async () => (await fetchesOf(name)) === 0);
      expect(await fetchesOf(name)).toBe(0);
      expect([await fetchesOf(name, CREDENTIAL), await fetchesOf(name, CREDENTIAL)]).toEqual([2, 2]);
      expect([await fetchesOf(name, { 'x-api-key': 'k' }), await fetchesOf(name, { 'x-tenant': 'acme' })]).toEqual([2, 2]);
      // undici forgets a response when another one of its URL must not be stored.
      expect(await fetchesOf(name)).toBe(name === 'undici' ? 2 : 0);
      const failing = '{ lamp { price } failing }';
      expect([await fetchesOf(name, {}, failing), await fetchesOf(name, {}, failing)]).toEqual([2, 2]);
      const mine = '{ mine { price } }';
      expect([await fetchesOf(name, {}, mine), await fetchesOf(name, {}, mine)]).toEqual([2, 2]);
    });
});
