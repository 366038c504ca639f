/** The OpenAPI documents against what the bridge does: their examples, limits, routes and parameters. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';
import { createExampleData } from './example-data.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}
interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly schema: Schema;
}
interface Operation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}
interface OpenApi {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

let stack: LeasedStack;
let admin: Account;
/** An account that is changed. */
let bob: Account;
/** An id for each collection whose rows the examples show. */
let ids: Readonly<Record<string, string>>;

beforeAll(async () => {
  stack = await leaseStack();
  bob = await stack.createAccount('Bob');
  admin = await stack.createAccount('Root', 'ADMIN');
  ids = await createExampleData(stack, admin);
});
afterAll(() => stack.stop());

const readDocument = async (version: string) => (await request(`${stack.rest}/${version}/openapi.json`, { method: 'GET' })).body as OpenApi;

function withIds(path: string, own = ids): string {
  const segments = path.split('/');
  return segments.map((segment, i) => (segment.startsWith('{') ? (own[segments[i - 1] ?? ''] ?? '') : segment)).join('/');
}

/** The names of all fields, as deep as they go; of a list, those of its first item. */
function shapeOf(value: unknown, other: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [shapeOf(value[0], Array.isArray(other) ? other[0] : undefined)] : [];
  if (typeof value !== 'object' || value === null) return 'value';
  // An absent value, such as that of a next page or an author, has no shape to compare.
  const peer = (typeof other === 'object' && other !== null ? other : {}) as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, part === null || peer[name] === null ? 'value' : shapeOf(part, peer[name])]),
  );
}

describe.each(['v1', 'v2'])('the OpenAPI document of %s', (version) => {
  it('has problems in its examples as they are sent', async () => {
    const { components } = (await readDocument(version)) as unknown as {
      components: { responses: Record<string, { content: Record<string, { example: object }> }> };
    };
    const headers = { accept: 'application/problem+json' };
    const problem = await request(`${stack.rest}/${version}/nothing`, { method: 'GET', headers });
    const example = components.responses['NOT_FOUND']?.content['application/problem+json']?.example;
    const text: unknown = expect.any(String);
    expect(example).toMatchObject({ title: 'Not Found' });
    expect(problem.body).toEqual({ ...example, detail: text, requestId: text });
  });

  it('has examples with exactly the fields of the default representations', async () => {
    const { paths } = await readDocument(version);
    const compared: string[] = [];
    for (const [path, { get }] of Object.entries(paths)) {
      const example = get?.responses['200']?.content?.['application/json']?.example;
      // The redirect has no answer of its own, and the document does not show itself.
      if (example === undefined || path === '/users/me' || path === '/openapi.json' || path === '/asyncapi.json') continue;
      const query = path === '/search' ? '?q=ropeways' : '';
      const { status, body } = await stack.call('GET', `/${version}${withIds(path)}${query}`, {
        token: admin.token,
        headers: { accept: 'application/json' },
      });
      expect([path, status, shapeOf(body, example)]).toEqual([path, 200, shapeOf(example, body)]);
      compared.push(path);
    }
    expect(compared.length).toBeGreaterThan(20);
  });

  it('states the enforced limits: a value at the limit is accepted, one beyond it is 400 with its field', async () => {
    const { paths } = await readDocument(version);
    const checked: string[] = [];
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { requestBody }] of Object.entries(operations)) {
        const media = requestBody?.content['application/json'];
        for (const [field, schema] of Object.entries(media?.schema.properties ?? {}))
          for (const { value, isBeyond } of valuesAt(schema)) {
            // A wrong password is 401 or 403, however long it is; logins and new passwords are tried elsewhere.
            if (path.startsWith('/auth/')) continue;
            // A key is replaced once.
            if (path.endsWith('/rotations') && !isBeyond) continue;
            const reply = await stack.call(method.toUpperCase(), `/${version}${withIds(path, { ...ids, users: bob.id })}`, {
              token: admin.token,
              headers: { 'idempotency-key': `limits-${version}-${String(checked.length)}` },
              body: { ...toOwn(media?.example as object), ...NEEDED[field], [field]: value },
            });
            const details = (reply.body as { error?: { details?: { field: string }[] } } | undefined)?.error?.details ?? [];
            // An id that is too long names nothing.
            const isMissing = isBeyond && field.endsWith('Id') && reply.status === 404;
            const isNamed = isMissing || (reply.status === 400 && details.some((fault) => fault.field.split('.')[0] === field));
            const place = `${method} ${path} ${field} ${isBeyond ? 'beyond' : 'at'} its limit`;
            if (isBeyond) expect([place, isNamed, reply.text]).toEqual([place, true, reply.text]);
            else if (schema.maxLength === undefined) expect([place, isNamed, reply.text]).toEqual([place, false, reply.text]);
            checked.push(place);
          }
      }
    expect(checked.length).toBeGreaterThan(50);
  });

  it('has examples of bodies that are not refused by 400', async () => {
    const { paths } = await readDocument(version);
    const refused: unknown[] = [];
    for (const [path, operations] of Object.entries(paths))
      for (const [method, { requestBody }] of Object.entries(operations)) {
        const body = requestBody?.content['application/json']?.example as object | undefined;
        // No link that was mailed has the token of the example, and no browser has made its passkey.
        if (!body || path === '/auth/password-reset/confirm' || path === '/auth/second-factor/passkeys') continue;
        const reply = await stack.call(method.toUpperCase(), `/${version}${withIds(path, { ...ids, users: bob.id })}`, {
          token: admin.token,
          headers: { 'idempotency-key': `examples-${version}-${method}-${path}` },
          body: toOwn(body),
        });
        if (reply.status === 400) refused.push([method, path, reply.text]);
      }
    expect(refused).toEqual([]);
  });

  it('contains only implemented routes', async () => {
    expect(Object.values((await readDocument(version)).paths).flatMap((operations) => Object.values(operations))).not.toContainEqual(
      expect.objectContaining({ responses: expect.objectContaining({ 501: expect.anything() }) }),
    );
  });
});

/** The examples name accounts of the demo data, which this stack has not. */
function toOwn(example: object): object {
  return Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, /^(?:customer|author)Id$/.test(name) ? admin.id : value]),
  );
}

/** What a field needs beside it. */
const NEEDED: Readonly<Record<string, object>> = { requestsPerMinute: { plan: 'enterprise' } };

/** Values at the limits of a schema and just beyond them. */
function valuesAt({ type, maxLength, minimum, maximum }: Schema): { value: unknown; isBeyond: boolean }[] {
  const isText = type === 'string' || (Array.isArray(type) && type.includes('string') && !type.includes('integer'));
  return [
    ...(isText && maxLength !== undefined ? [{ value: 'x'.repeat(maxLength + 1), isBeyond: true }] : []),
    ...(minimum !== undefined
      ? [
          { value: minimum, isBeyond: false },
          { value: minimum - 1, isBeyond: true },
        ]
      : []),
    ...(maximum !== undefined ? [{ value: maximum + 1, isBeyond: true }] : []),
  ];
}

describe('a list parameter', () => {
  // OpenAPI 3.1 §4.8.12.2: `form` with `explode`, the default of clients, repeats the name.
  it.each([
    ['fields=id,name', 'fields=id&fields=name'],
    ['sort=name,-id', 'sort=name&sort=-id'],
    ['', 'fields=&sort=&include='],
    ['include=posts,orders', 'include=posts&include=orders'],
  ])('means the same as %s and as %s', async (commas, repeated) => {
    const [one, other] = await Promise.all(
      [commas, repeated].map((query) => stack.call('GET', `/v1/users?${query}`, { token: admin.token })),
    );
    expect(one?.status).toBe(200);
    expect((other?.body as { data: object[] }).data).toEqual((one?.body as { data: object[] }).data);
  });
});
