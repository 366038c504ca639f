/** What the bridge says of itself, held against what it does: the index, the OpenAPI document, its examples and its limits. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

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
  // The example of a search finds words in the account's text about itself.
  await stack.sql('users', `UPDATE users SET bio = 'Builds ropeways.' WHERE id = $1`, [admin.id]);
  // The list of sessions has one.
  await stack.call('POST', '/v1/auth/login', { body: { email: 'root@example.org', password: 'Root-passes-1' } });
  const make = async (path: string, body: object, headers: Record<string, string> = {}) =>
    String(((await stack.call('POST', path, { body, token: admin.token, headers })).body as { id: string | number }).id);
  const products = await make('/v1/products', { name: 'Rope', category: 'ropes', price: 100, currency: 'EUR', stock: 9 });
  const orders = await make('/v1/orders', { productId: Number(products), qty: 1 });
  const key = await stack.call('POST', '/v1/api-keys', { body: { name: 'Documents' }, token: admin.token });
  const webhook = await stack.call('POST', '/v1/webhooks', {
    body: { name: 'Documents', url: 'https://example.com/' },
    token: admin.token,
  });
  const webhookId = (webhook.body as { webhook: { id: string } }).webhook.id;
  await fillDeliveries(webhookId);
  const payment = { amount: 100, currency: 'EUR', customerId: admin.id };
  const posts = await make('/v1/posts', { title: 'Bridges', body: 'bridge', status: 'published', tags: ['steel'] });
  await fillLists(admin.id);
  await stack.sql('content', `INSERT INTO channels (id, name) VALUES ('chn_0123456789abcdefghjkmnpqrs', 'documents')`);
  await stack.sql(
    'content',
    `INSERT INTO videos (id, title, "ownerId", status) VALUES ('vid_0123456789abcdefghjkmnpqrs', 'Film', $1, 'PUBLISHED')`,
    [admin.id],
  );
  ids = {
    users: admin.id,
    'api-keys': (key.body as { apiKey: { id: string } }).apiKey.id,
    jobs: 'job_0123456789abcdefghjkmnpqrp',
    webhooks: webhookId,
    deliveries: DELIVERY,
    posts,
    products,
    orders,
    payments: await make('/v1/payments', payment, { 'idempotency-key': 'documents' }),
    comments: await make(`/v1/posts/${posts}/comments`, { body: 'bridge' }),
    channels: 'chn_0123456789abcdefghjkmnpqrs',
    videos: 'vid_0123456789abcdefghjkmnpqrs',
    uploads: await make('/v1/uploads', { title: 'Film', size: 1000 }),
    messages: await make('/v1/channels/chn_0123456789abcdefghjkmnpqrs/messages', { body: 'Hello' }),
  };
  await until(isSearchable);
});
afterAll(() => stack.stop());

const isSearchable = async (): Promise<boolean> => {
  const { body } = await stack.call('GET', '/v1/search?q=ropeways', { token: admin.token });
  return (body as { data: unknown[] }).data.length > 0;
};

const DELIVERY = 'dlv_0123456789abcdefghjkmnpqrs';

/** Adds a delivery with one attempt. */
async function fillDeliveries(webhookId: string): Promise<void> {
  const attempt = {
    ...{ startedAt: '2026-01-31T12:00:00.000Z', durationMs: 1, status: 204, error: null },
    ...{ requestHeaders: { 'webhook-id': 'evt_1' }, responseHeaders: { server: 'test' } },
  };
  await stack.sql(
    'users',
    `INSERT INTO webhook_deliveries (id, "webhookId", kind, status, "eventId", "eventType", audience, event, attempts, log, "completedAt", "createdAt")
     VALUES ($2, $1, 'EVENT', 'SUCCEEDED', 'evt_1', 'order.paid', 'OWNER', '{}', 1, $3, now(), now() + interval '1 hour')`,
    [webhookId, DELIVERY, JSON.stringify([attempt])],
  );
}

/** An example shows the items of a list, so each list needs one: a passkey and an authorization take a browser to make. */
async function fillLists(userId: string): Promise<void> {
  await stack.sql(
    'users',
    `INSERT INTO passkeys (id, "userId", name, "credentialId", "publicKey", counter) VALUES ('psk_documents', $1, 'Documents', 'documents', '', 0)`,
    [userId],
  );
  await stack.sql(
    'users',
    `INSERT INTO oauth_clients (id, "ownerId", name, "grantTypes", scopes) VALUES ('documents', $1, 'Documents', '{}', '{}')`,
    [userId],
  );
  await stack.sql(
    'users',
    `INSERT INTO jobs (id, kind, status, progress, input, "ownerId") VALUES ($2, 'RESET_PASSWORD', 'SUCCEEDED', 100, '{}', $1)`,
    [userId, 'job_0123456789abcdefghjkmnpqrp'],
  );
  const grant = { clientId: 'documents', openid: { scope: 'openid' } };
  await stack.sql(
    'users',
    `INSERT INTO oauth_records (kind, "keyHash", payload, "accountId", "grantId", "expiresAt")
     VALUES ('Grant', 'documents', $2, $1, 'documents', now() + interval '1 day')`,
    [userId, grant],
  );
}

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
            const reply = await stack.call(method.toUpperCase(), `/${version}${withIds(path, { ...ids, users: bob.id })}`, {
              token: admin.token,
              headers: { 'idempotency-key': `limits-${version}-${String(checked.length)}` },
              body: { ...toOwn(media?.example as object), [field]: value },
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

describe('addresses in documents', () => {
  const read = async (url: string, headers: Record<string, string> = {}) =>
    (await request(`${url}/openapi.json`, { method: 'GET', headers })).body as OpenApi;

  // OpenAPI 3.1 §4.8.5: a server's URL is where clients send their requests.
  it('use the Host of the request', async () => {
    expect((await read(stack.rest)).servers).toMatchObject([{ url: `${stack.rest}/v1` }]);
    const page = await request(`${stack.rest}/docs`, { method: 'GET' });
    expect(page.text).toContain(`curl -s -i &quot;${stack.rest}/v1/products`);
  });

  it('use PUBLIC_URL when it is set', async () => {
    const { url } = await stack.startBridge({
      PUBLIC_URL: 'https://api.example.com/',
      PUBLIC_GATEWAY_URL: 'https://graphql.example.com/graphql',
    });
    expect((await read(url)).servers).toMatchObject([{ url: 'https://api.example.com/v1' }]);
    const index = await request(url, { method: 'GET' });
    expect(index.body).toMatchObject({
      _links: { docs: { href: 'https://api.example.com/docs' }, graphql: { href: 'https://graphql.example.com/graphql' } },
    });
  });
});

describe('GET /', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

  it('returns an index to programs whose links all resolve', async () => {
    const { body, headers } = await stack.call('GET', '/');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const links = (body as { _links: Record<string, { href: string }> })._links;
    expect(Object.keys(links)).toEqual(['self', 'docs', 'graphql', 'openapi', 'health']);
    expect(links['graphql']?.href).toBe(`${stack.gateway.replace('localhost', '127.0.0.1')}/graphql`);
    const accept = { graphql: 'text/html', docs: 'text/html' } as Readonly<Record<string, string>>;
    for (const [name, { href }] of Object.entries(links))
      expect([name, (await request(href, { method: 'GET', headers: { accept: accept[name] ?? '*/*' } })).status]).toEqual([name, 200]);
  });

  it('returns a page to browsers without scripts and external resources', async () => {
    const page = await request(`${stack.rest}/`, { method: 'GET', headers: { accept: BROWSER } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('vary')).toMatch(/Accept/);
    // CSP 3 §6: nothing is allowed but the one style, by its hash.
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; /);
    expect(page.text).not.toMatch(/<script|src=|@import|url\(/);
    for (const path of ['/docs', '/openapi.json', '/readyz', '/graphql']) expect(page.text).toContain(`${path}"`);
  });

  it.each(['a"><script>', "x' onload='", 'evil.example/path', 'user@evil.example', 'a b', '', '[::1', 'a'.repeat(300)])(
    'returns no address that contains the Host %j',
    async (host) => {
      const reply = await rawGet(host);
      expect(reply).not.toMatch(/<script|onload|evil/);
      expect(reply).toMatch(/^HTTP\/1\.1 (?:200|400) /);
    },
  );
});

async function rawGet(host: string): Promise<string> {
  const { connect } = await import('node:net');
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(stack.rest).port), '127.0.0.1', () =>
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`),
    );
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(answer);
    });
  });
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
