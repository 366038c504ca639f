import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createAddresses } from '../http/addresses.ts';
import { withDocuments } from '../routes/documents.ts';
import { rows } from '../routes/table.ts';
import { findBreakingChanges } from './compatibility.ts';
import { createOpenApi } from './document.ts';
import { toReferencePage } from './reference-page.ts';

const schema = buildSchema(readApiSdl());
const all = withDocuments(rows, { schema, addresses: createAddresses({}) });
const make = (version: number) => createOpenApi(all, { schema, version });
/** As JSON, since that is what clients get. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
const released = (version: number): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../../schema/openapi/released/v${String(version)}.json`, import.meta.url)), 'utf8'));

describe.each([1, 2])('the document of version %i', (version) => {
  it('passes the recommended rules of Redocly', async () => {
    const problems = await lintFromString({
      source: JSON.stringify(make(version)),
      absoluteRef: 'openapi.json',
      config: await createConfig({ extends: ['recommended'] }),
    });
    expect(problems).toEqual([]);
  }, 60_000);

  it('has every row that is implemented', () => {
    const { paths } = make(version);
    const known = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const implemented = all.filter(({ answers }) => answers.shape !== 'announced');
    expect(known.sort()).toEqual(implemented.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('differs from the released one by additions only', () => {
    expect(findBreakingChanges(released(version) as Record<string, unknown>, plain(make(version)))).toEqual([]);
  });

  it('is also a page, which tells of every operation and runs nothing', () => {
    const page = toReferencePage(make(version));
    for (const operations of Object.values(make(version).paths))
      for (const { operationId } of Object.values(operations)) expect(page).toContain(`<section id="${operationId}">`);
    expect(page).not.toMatch(/<script|src=|@import|url\(|href="(?!#|openapi\.json"|data:,")/);
  });
});

describe('a change', () => {
  type Place = readonly string[];
  /** The holder of the last name of the place. */
  const holderOf = (document: object, place: Place) =>
    place
      .slice(0, -1)
      .reduce<Record<string, unknown>>((inner, name) => inner[name] as Record<string, unknown>, document as Record<string, unknown>);
  const change = (place: Place, value?: unknown) => {
    const changed = plain(make(1));
    const holder = holderOf(changed, place);
    const last = place.at(-1) ?? '';
    if (value === undefined) Reflect.deleteProperty(holder, last);
    else holder[last] = value;
    return findBreakingChanges(plain(make(1)), changed);
  };
  const properties = (type: string) => ['components', 'schemas', type, 'properties'];
  const orderBody = ['paths', '/orders', 'post', 'requestBody', 'content', 'application/json', 'schema'];

  it('breaks clients when something is taken away, of another type, narrower, or needed now', () => {
    expect(change(['paths', '/users'])).toEqual(['GET /users is gone', 'POST /users is gone']);
    expect(change([...properties('Post'), 'title'])[0]).toMatch(/title is gone/);
    expect(change([...properties('Order'), 'total'], { type: 'string' })[0]).toMatch(/total has another type/);
    expect(change([...properties('Order'), 'total', 'type'], ['integer', 'null'])[0]).toMatch(/total has another type/);
    expect(change([...orderBody, 'required'], ['note'])).toEqual(['POST /orders: body note is required now']);
    expect(change([...orderBody, 'properties', 'qty', 'type'], 'string')[0]).toMatch(/qty has another type/);
    expect(change(['paths', '/orders', 'get', 'parameters'], [])[0]).toMatch(/GET \/orders: parameter \w+ [\w-]+ is gone/);
    expect(change([...properties('PagePagination'), 'total'])[0]).toMatch(/total is gone/);
    expect(change(['paths', '/orders/{id}/cancel', 'post', 'requestBody'], { required: true, content: {} })).toEqual([
      'POST /orders/{id}/cancel: a body is required now',
    ]);
    expect(change(['paths', '/products', 'get', 'security'], [{ bearer: [] }])).toEqual(['GET /products: needs a token now']);
    expect(change(['paths', '/products', 'get', 'responses', '200'])).toEqual(['GET /products: response 200 is gone']);
    expect(findBreakingChanges(plain(make(1)), plain(make(2))).some((text) => text.includes('total has another type'))).toBe(true);
  });

  it('breaks nobody when something is added', () => {
    expect(change([...properties('Post'), 'mood'], { type: 'string' })).toEqual([]);
    expect(change(['paths', '/moods'], { get: {} })).toEqual([]);
    expect(change([...orderBody, 'properties', 'note'], { type: 'string' })).toEqual([]);
  });
});
