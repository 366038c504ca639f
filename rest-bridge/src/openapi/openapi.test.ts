import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createAddresses } from '../http/addresses.ts';
import { withDocumentRoutes } from './document-routes.ts';
import { routes } from '../routes/route-table.ts';
import { findBreakingChanges } from './compatibility.ts';
import { createOpenApi } from './document.ts';
import { toReferencePage } from './reference-page.ts';

const schema = buildSchema(readApiSdl());
const all = withDocumentRoutes(routes, { schema, addresses: createAddresses({}), publicKeys: () => [] });
/** Each is created once: that takes a second, and no test changes it. */
const documents = new Map([1, 2].map((version) => [version, createOpenApi(all, { schema, version })]));
const create = (version: number) => documents.get(version) as ReturnType<typeof createOpenApi>;
/** Returns the JSON value that clients receive. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
const released = (version: number): unknown =>
  JSON.parse(readFileSync(fileURLToPath(new URL(`../../../schema/openapi/released/v${String(version)}.json`, import.meta.url)), 'utf8'));

describe.each([1, 2])('the OpenAPI document of version %i', (version) => {
  it('passes the recommended rules of Redocly without a problem', async () => {
    const problems = await lintFromString({
      source: JSON.stringify(create(version)),
      absoluteRef: 'openapi.json',
      config: await createConfig({ extends: ['recommended'] }),
    });
    expect(problems).toEqual([]);
  });

  it('contains exactly the routes of the table', () => {
    const { paths } = create(version);
    const known = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(known.sort()).toEqual(all.map(({ method, path }) => `${method} ${path}`).sort());
  });

  it('names the media types of each 206: those of the 200, and several ranges of what is no JSON', () => {
    const { paths, components } = create(version);
    interface Response {
      readonly content?: object;
      readonly $ref?: string;
    }
    const follow = (response: Response) => components['responses']?.[response.$ref?.split('/').at(-1) ?? ''] ?? response;
    const typesOf = (response: Response = {}) => Object.keys(follow(response).content ?? {});
    const reads = Object.entries(paths).flatMap(([path, { get }]) => (get?.responses['206'] ? [[path, get.responses] as const] : []));
    expect(reads.length).toBeGreaterThan(20);
    for (const [path, { '200': whole, '206': partial }] of reads) {
      const types = typesOf(whole).filter((type) => type !== 'text/event-stream');
      const isJson = types.includes('application/json');
      expect([path, typesOf(partial)]).toEqual([path, [...types, ...(isJson ? [] : ['multipart/byteranges'])]]);
    }
  });

  it('differs from the released document only by additions', () => {
    expect(findBreakingChanges(released(version) as Record<string, unknown>, plain(create(version)))).toEqual([]);
  });

  it('has a tag with a name and a description for each operation', () => {
    const { tags, paths } = create(version);
    const used = Object.values(paths).flatMap((methods) => Object.values(methods).flatMap(({ tags: own }) => own));
    expect(new Set(used)).toEqual(new Set(tags.map(({ name }) => name)));
    expect(tags).toContainEqual({ name: 'well-known', description: 'Routes under `/.well-known`.' });
    for (const { name } of tags) expect(name).toMatch(/^[a-z-]+$/);
  });

  describe('the schema of a body', () => {
    type Properties = Readonly<Record<string, { readonly type: unknown; readonly minimum?: number; readonly maximum?: number }>>;
    interface Body {
      readonly properties: Properties;
      readonly additionalProperties?: boolean;
    }
    const bodies = Object.entries(create(version).paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { requestBody }]) => {
        const { content } = plain(requestBody ?? {}) as { content?: Record<string, { schema: Body }> };
        const json = content?.['application/json'];
        return json ? [[`${method.toUpperCase()} ${path}`, json.schema] as const] : [];
      }),
    );
    const bodyOf = (operation: string) => bodies.find(([name]) => name === operation)?.[1] as Body;

    it('allows null for each field that null clears, and for passwords that are not needed', () => {
      const nullable = ({ properties }: Body) => Object.keys(properties).filter((name) => [properties[name]?.type].flat().includes('null'));
      expect(nullable(bodyOf('PATCH /users/{id}')).sort()).toEqual(['age', 'bio', 'currentPassword', 'requestsPerMinute']);
      expect(nullable(bodyOf('PUT /users/{id}')).sort()).toEqual(['age', 'bio', 'currentPassword', 'password', 'requestsPerMinute']);
    });

    it('has the limits of requestsPerMinute and overlapHours', () => {
      for (const operation of ['PATCH /users/{id}', 'PUT /users/{id}'])
        expect(bodyOf(operation).properties['requestsPerMinute']).toMatchObject({ minimum: 1, maximum: 1_000_000 });
      for (const operation of ['POST /api-keys/{id}/rotations', 'POST /webhooks/{id}/rotations'])
        expect(bodyOf(operation).properties['overlapHours']).toMatchObject({ minimum: 0, maximum: 168 });
    });

    it('allows no other fields, but where PUT takes back read-only ones', () => {
      const open = bodies.filter(([, { additionalProperties }]) => additionalProperties !== false).map(([operation]) => operation);
      expect(open.sort()).toEqual(['PUT /posts/{id}', 'PUT /users/{id}']);
    });

    it('demands exactly one of the fields that exclude each other', () => {
      expect(bodyOf('POST /auth/password-reset')).toMatchObject({ minProperties: 1, maxProperties: 1 });
      expect(bodyOf('POST /auth/login/second-factor')).toMatchObject({ minProperties: 2, maxProperties: 2 });
    });
  });

  it('renders as a page with every operation and without scripts and external resources', () => {
    const page = toReferencePage(create(version));
    for (const operations of Object.values(create(version).paths))
      for (const { operationId } of Object.values(operations)) expect(page).toContain(`<section id="${operationId}">`);
    expect(page).not.toMatch(/<script|src=|@import|url\(|href="(?!#|openapi\.json"|data:,")/);
    // Keyboards reach the content without a hundred links before it (WCAG 2.4.1).
    expect(page).toMatch(/<body><a class="skip" href="#content">[^]*<main id="content">/);
  });
});

describe('findBreakingChanges', () => {
  type Place = readonly string[];
  /** Returns the object that contains the last name of the place. */
  const holderOf = (document: object, place: Place) =>
    place
      .slice(0, -1)
      .reduce<Record<string, unknown>>((inner, name) => inner[name] as Record<string, unknown>, document as Record<string, unknown>);
  const change = (place: Place, value?: unknown) => {
    const changed = plain(create(1));
    const holder = holderOf(changed, place);
    const last = place.at(-1) ?? '';
    if (value === undefined) Reflect.deleteProperty(holder, last);
    else holder[last] = value;
    return findBreakingChanges(plain(create(1)), changed);
  };
  const properties = (type: string) => ['components', 'schemas', type, 'properties'];
  const orderBody = ['paths', '/orders', 'post', 'requestBody', 'content', 'application/json', 'schema'];

  it('reports removals, other types, narrower values and new requirements', () => {
    expect(change(['paths', '/users'])).toEqual(['GET /users was removed', 'POST /users was removed']);
    expect(change([...properties('Post'), 'title'])[0]).toMatch(/title was removed/);
    expect(change([...properties('Order'), 'total'], { type: 'string' })[0]).toMatch(/total changed its type/);
    expect(change([...properties('Order'), 'total', 'type'], ['integer', 'null'])[0]).toMatch(/total changed its type/);
    expect(change([...orderBody, 'required'], ['note'])).toEqual(['POST /orders: body note became required']);
    expect(change([...orderBody, 'properties', 'qty', 'type'], 'string')[0]).toMatch(/qty changed its type/);
    expect(change(['paths', '/orders', 'get', 'parameters'], [])[0]).toMatch(/GET \/orders: parameter \w+ [\w-]+ was removed/);
    expect(change([...properties('PagePagination'), 'total'])[0]).toMatch(/total was removed/);
    expect(change(['paths', '/orders/{id}/cancel', 'post', 'requestBody'], { required: true, content: {} })).toEqual([
      'POST /orders/{id}/cancel: a body became required',
    ]);
    expect(change(['paths', '/products', 'get', 'security'], [{ bearer: [] }])).toEqual(['GET /products: now requires a token']);
    expect(change(['paths', '/products', 'get', 'responses', '200'])).toEqual(['GET /products: response 200 was removed']);
    expect(findBreakingChanges(plain(create(1)), plain(create(2))).some((text) => text.includes('total changed its type'))).toBe(true);
  });

  it('reports nothing for additions', () => {
    expect(change([...properties('Post'), 'mood'], { type: 'string' })).toEqual([]);
    expect(change(['paths', '/moods'], { get: {} })).toEqual([]);
    expect(change([...orderBody, 'properties', 'note'], { type: 'string' })).toEqual([]);
  });
});
