/** What each noun offers by REST besides users and orders (spec §4.2, contract §4), and what a resource shows when a part of it fails. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;
let admin: Account;
beforeAll(async () => {
  stack = await leaseStack();
  [ada, bob, admin] = [await stack.createAccount('Ada'), await stack.createAccount('Bob'), await stack.createAccount('Root', 'ADMIN')];
});
afterAll(() => stack.stop());

type Body = Record<string, unknown> & { id: string };
const call = async (method: string, path: string, { token, body }: { token?: string | undefined; body?: unknown } = {}) => {
  const reply = await stack.call(method, path, { token, body });
  return { status: reply.status, headers: reply.headers, body: reply.body as Body };
};
const write = (title: string, more: object = {}, token = ada.token) =>
  call('POST', `/v1/users/${ada.id}/posts`, { token, body: { title, status: 'published', ...more } });
const ids = (body: unknown) => (body as { data: { id: string }[] }).data.map(({ id }) => id);

describe('what administrators create for an account', () => {
  let deleted: Account;
  let other: Account;
  beforeAll(async () => {
    [deleted, other] = [await stack.createAccount('Gone'), await stack.createAccount('Other')];
    await call('DELETE', `/v1/users/${deleted.id}`, { token: deleted.token });
  });

  const pay = (customerId: string) =>
    stack.call('POST', '/v1/payments', {
      token: admin.token,
      headers: { 'idempotency-key': customerId },
      body: { amount: 700, currency: 'EUR', customerId },
    });
  it.each([
    ['a post below its path', (id: string) => call('POST', `/v1/users/${id}/posts`, { token: admin.token, body: { title: 'Lost' } })],
    ['a post', (authorId: string) => call('POST', '/v1/posts', { token: admin.token, body: { title: 'Lost', authorId } })],
    ['a payment', pay],
  ])('is answered 404 when the account does not exist, and 410 when it was deleted: %s', async (_, create) => {
    expect([(await create('usr_nope')).status, (await create(deleted.id)).status, (await create(other.id)).status]).toEqual([
      404, 410, 201,
    ]);
  });
});

describe('the routes of posts', () => {
  it('create, return, replace, update and delete a post', async () => {
    const made = await write('First', { body: 'Text', tags: ['b', 'a'] });
    expect([made.status, made.body]).toMatchObject([201, { title: 'First', status: 'published', tags: ['a', 'b'], authorId: ada.id }]);
    const path = `/v1/posts/${made.body.id}`;
    expect(made.headers.get('location')).toBe(path);
    expect((await call('GET', path)).body).toEqual(made.body);
    expect((await call('PUT', path, { token: ada.token, body: { title: 'Second' } })).body).toMatchObject({
      title: 'Second',
      body: '',
      tags: [],
      status: 'published',
    });
    expect((await call('PATCH', path, { token: ada.token, body: { body: 'More' } })).body).toMatchObject({ title: 'Second', body: 'More' });
    expect((await call('PATCH', path, { token: bob.token, body: { body: 'Mine' } })).status).toBe(403);
    expect((await call('DELETE', path, { token: ada.token })).status).toBe(204);
    expect([(await call('DELETE', path, { token: ada.token })).status, (await call('GET', path)).status]).toEqual([404, 410]);
  });

  it('list the posts of an account, and let the account and administrators create posts there', async () => {
    const { id } = (await write('Below')).body;
    expect((await call('GET', `/v1/users/${ada.id}/posts/${id}`)).body).toMatchObject({ id, title: 'Below' });
    expect((await call('GET', `/v1/users/${bob.id}/posts/${id}`)).status).toBe(404);
    expect((await call('GET', `/v1/users/usr_none/posts/${id}`)).status).toBe(404);
    expect((await write('Not mine', {}, bob.token)).status).toBe(403);
    expect((await write('By hand', {}, admin.token)).body).toMatchObject({ authorId: ada.id });
    const draft = (await write('Draft', { status: 'draft' })).body.id;
    expect((await call('GET', `/v1/users/${ada.id}/posts/${draft}`)).status).toBe(404);
    expect((await call('GET', `/v1/users/${ada.id}/posts/${draft}`, { token: ada.token })).status).toBe(200);
  });

  it('create, return, update and delete comments, and list them in every paging variant', async () => {
    const { id } = (await write('Talked about')).body;
    const path = `/v1/posts/${id}/comments`;
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await call('POST', path, { token: bob.token, body: { body: `Word ${String(i)}` } })).body.id);
    expect(ids((await call('GET', path)).body)).toEqual(made);
    expect(ids((await call('GET', `${path}?offset=3&limit=2`)).body)).toEqual(made.slice(3));
    const first = (await call('GET', `${path}?cursor=&limit=2&sort=-id`)).body as unknown as { pagination: { nextCursor: string } };
    const second = (await call('GET', `${path}?cursor=${first.pagination.nextCursor}&limit=2&sort=-id`)).body;
    expect(ids(second)).toEqual([made[2], made[1]]);
    const { prevCursor } = (second as unknown as { pagination: { prevCursor: string } }).pagination;
    expect(prevCursor).toMatch(/^[\w-]+$/);
    expect(ids((await call('GET', `${path}?cursor=${prevCursor}&limit=2&sort=-id`)).body)).toEqual([made[4], made[3]]);
    expect(ids((await call('GET', `${path}?authorId=${ada.id}`)).body)).toEqual([]);
    expect((await call('GET', '/v1/posts/pst_none/comments')).status).toBe(404);
    const comment = `/v1/comments/${made[0] ?? ''}`;
    expect((await call('PATCH', comment, { token: bob.token, body: { body: 'Other' } })).body).toMatchObject({
      body: 'Other',
      author: { id: bob.id },
    });
    expect((await call('DELETE', comment, { token: ada.token })).status).toBe(403);
    expect((await call('DELETE', comment, { token: bob.token })).status).toBe(204);
    expect((await call('GET', comment)).status).toBe(410);
  });
});

describe('GET /search', () => {
  it('finds accounts, posts and comments, and returns all of them by cursor', async () => {
    await stack.createAccount('Zanzibar One');
    await stack.createAccount('Zanzibar Two');
    const { id } = (await write('About zanzibar')).body;
    await call('POST', `/v1/posts/${id}/comments`, { token: bob.token, body: { body: 'Where is zanzibar?' } });
    await write('A zanzibar draft', { status: 'draft' });
    interface Results {
      data: { type: string; _links: { self: { href: string } } }[];
      pagination: { nextCursor: string | null };
    }
    const search = async (query: string) => (await call('GET', `/v1/search?q=zanzibar${query}`)).body as unknown as Results;
    const typesOf = ({ data }: Results) => data.map(({ type }) => type).sort();
    const all = ['comment', 'post', 'user', 'user'];
    await until(async () => typesOf(await search('')).join() === all.join());
    const whole = await search('');
    expect(whole.pagination.nextCursor).toBeNull();
    for (const { _links } of whole.data) expect((await call('GET', _links.self.href)).status).toBe(200);
    const walked: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Results = await search(`&limit=1&cursor=${cursor}`);
      walked.push(...page.data);
      cursor = page.pagination.nextCursor;
    }
    expect(walked).toEqual(whole.data);
    expect(typesOf(await search('&type=comment,post'))).toEqual(['comment', 'post']);
  });

  it.each(['', '?q=', '?q=x&type=king', '?q=x&limit=0', '?q=x&cursor=bm90', '?q=x&page=0', '?q=-x', '?q=%21'])(
    'answers 400 to the query string "%s"',
    async (query) => {
      expect((await call('GET', `/v1/search${query}`)).status).toBe(400);
    },
  );
});

describe('the other routes', () => {
  it('let all callers read products and administrators write them', async () => {
    const body = { name: 'Anchor', category: 'anchors', price: 9900, currency: 'EUR', stock: 3 };
    expect((await call('POST', '/v1/products', { token: ada.token, body })).status).toBe(403);
    const made = await call('POST', '/v1/products', { token: admin.token, body });
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/products/${made.body.id}`]);
    expect((await call('PATCH', `/v1/products/${made.body.id}`, { token: admin.token, body: { price: 9000 } })).body).toMatchObject({
      price: 9000,
    });
    expect(ids((await call('GET', '/v1/products?category=anchors&minPrice=9000&maxPrice=9000&q=anchor&sort=-price')).body)).toEqual([
      made.body.id,
    ]);
  });

  it('return payments to the customers who made them', async () => {
    const pay = await stack.call('POST', '/v1/payments', {
      token: ada.token,
      headers: { 'idempotency-key': 'routes-1' },
      body: { amount: 700, currency: 'EUR', customerId: ada.id },
    });
    const { id } = pay.body as Body;
    expect((await call('GET', `/v1/payments/${id}`, { token: ada.token })).body).toMatchObject({
      amount: 700,
      customer: { id: ada.id },
      orderId: null,
    });
    expect((await call('GET', `/v1/payments/${id}`, { token: bob.token })).status).toBe(404);
    expect(ids((await call('GET', '/v1/payments?amount_gte=700', { token: ada.token })).body)).toEqual([id]);
    expect(ids((await call('GET', '/v1/payments', { token: bob.token })).body)).toEqual([]);
  });

  it('return an invoice as PDF with its own entity tag and ranges', async () => {
    const product = await call('POST', '/v1/products', {
      token: admin.token,
      body: { name: 'Bolt', category: 'bolts', price: 10, currency: 'EUR', stock: 9 },
    });
    const order = await call('POST', '/v1/orders', { token: ada.token, body: { productId: product.body.id, qty: 3 } });
    const get = (headers: Record<string, string>) =>
      stack.call('GET', `/v1/orders/${order.body.id}/invoice`, { token: ada.token, headers });
    const pdf = await get({ accept: 'application/pdf' });
    expect([pdf.status, pdf.headers.get('content-type'), pdf.text.slice(0, 5)]).toEqual([200, 'application/pdf', '%PDF-']);
    const selected = await stack.call('GET', `/v1/orders/${order.body.id}/invoice?fields=id`, {
      token: ada.token,
      headers: { accept: 'application/pdf' },
    });
    expect([selected.status, selected.body]).toMatchObject([400, { error: { details: [{ field: 'fields' }] } }]);
    expect((await get({ accept: 'application/pdf', 'if-none-match': pdf.headers.get('etag') ?? '' })).status).toBe(304);
    expect((await get({ accept: 'application/pdf', range: 'bytes=0-3' })).text).toBe('%PDF');
    expect((await get({ accept: 'application/pdf;q=0.5, application/json' })).body).toMatchObject({ total: 30, isPaid: false });
    expect((await get({ accept: 'image/png' })).body).toMatchObject({ error: { code: 'NOT_ACCEPTABLE' } });
  });

  it('read and write videos, channels and messages', async () => {
    await stack.sql('content', `INSERT INTO channels (id, name) VALUES ('chn_0123456789abcdefghjkmnpqrs', 'rest-routes')`);
    await stack.sql(
      'content',
      `INSERT INTO videos (id, title, "ownerId", status) VALUES ('vid_0123456789abcdefghjkmnpqrs', 'Film', $1, 'PUBLISHED')`,
      [ada.id],
    );
    expect((await call('GET', '/v1/channels')).status).toBe(401);
    const [channel] = ids((await call('GET', '/v1/channels', { token: ada.token })).body);
    const said = await call('POST', `/v1/channels/${channel ?? ''}/messages`, { token: ada.token, body: { body: 'Hello' } });
    expect(ids((await call('GET', `/v1/channels/${channel ?? ''}/messages`, { token: bob.token })).body)).toEqual([said.body.id]);
    expect((await call('PATCH', `/v1/messages/${said.body.id}`, { token: ada.token, body: { body: 'Bye' } })).body).toMatchObject({
      body: 'Bye',
    });
    expect((await call('DELETE', `/v1/messages/${said.body.id}`, { token: ada.token })).status).toBe(204);
    const [video] = ids((await call('GET', '/v1/videos?title=Film')).body);
    expect((await call('PATCH', `/v1/videos/${video ?? ''}`, { token: ada.token, body: { title: 'Movie' } })).body).toMatchObject({
      title: 'Movie',
    });
    expect((await call('GET', `/v1/videos/${video ?? ''}`)).body).toMatchObject({ title: 'Movie', owner: { id: ada.id } });
  });

  it('redirect /users/me to the own account, and paths with a trailing slash', async () => {
    const me = await stack.call('GET', '/v2/users/me?fields=id', { token: ada.token });
    expect([me.status, me.headers.get('location')]).toEqual([307, `/v2/users/${ada.id}?fields=id`]);
    expect((await stack.call('GET', '/v1/users/me')).status).toBe(401);
    const moved = [await stack.call('GET', '/v1/users/?limit=1'), await stack.call('POST', '/v1/users/', { body: {} })];
    expect(moved.map(({ status, headers }) => [status, headers.get('location')])).toEqual([
      [301, '/v1/users?limit=1'],
      [308, '/v1/users'],
    ]);
  });

  it('are all implemented: none answers 501', async () => {
    const { paths } = (await stack.call('GET', '/v1/openapi.json')).body as { paths: Record<string, Record<string, unknown>> };
    for (const [path, operations] of Object.entries(paths))
      for (const method of Object.keys(operations)) {
        const url = `${stack.rest}/v1${path.replaceAll(/\{\w+\}/g, 'x')}`;
        const reply = await fetch(url, { method: method.toUpperCase(), redirect: 'manual', headers: { accept: 'application/json' } });
        await reply.body?.cancel();
        expect([method, path, reply.status]).not.toEqual([method, path, 501]);
      }
  });
});

describe('POST /orders', () => {
  // Spec §9.4: `items` is an addition beside `productId` and `qty`.
  it.each(['v1', 'v2'] as const)('creates an order with several items in %s, which one page lists', async (version) => {
    const make = async (price: number) =>
      (
        await call('POST', '/v1/products', {
          token: admin.token,
          body: { name: 'Part', category: 'parts', price, currency: 'EUR', stock: 9 },
        })
      ).body.id;
    const [first, second] = [Number(await make(100)), Number(await make(10))];
    const body = {
      items: [
        { productId: first, qty: 2 },
        { productId: second, qty: 3 },
      ],
    };
    const placed = await call('POST', `/${version}/orders`, { token: ada.token, body });
    expect([placed.status, placed.body['total']]).toEqual([201, version === 'v1' ? 230 : { amount: 230, currency: 'EUR' }]);
    const path = `/${version}/orders/${placed.body.id}/items`;
    const items = await call('GET', path, { token: ada.token });
    const pages = { v1: { page: 1, total: 2, totalPages: 1, nextCursor: null }, v2: { nextCursor: null, prevCursor: null } };
    expect(items.body).toMatchObject({ data: [{ qty: 2 }, { qty: 3 }], pagination: { ...pages[version], limit: 100, hasNextPage: false } });
    expect(items.headers.get('link')).toBe(`<${path}>; rel="first", <${path}>; rel="last"`);
    const wrong = await call('POST', `/${version}/orders`, { token: ada.token, body: { items: [{ productId: first }] } });
    expect([wrong.status, wrong.body]).toMatchObject([400, { error: { details: [{ field: 'items' }] } }]);
  });

  it('answers 400 to both productId and items, and POST /users accepts age', async () => {
    const both = await call('POST', '/v1/orders', { token: ada.token, body: { productId: 1, qty: 1, items: [{ productId: 1, qty: 1 }] } });
    expect([both.status, both.body]).toMatchObject([400, { error: { code: 'VALIDATION_ERROR' } }]);
    const body = { email: 'aged@example.org', name: 'Aged', password: 'long-enough-now', age: 40 };
    expect((await call('POST', '/v1/users', { body })).body).toMatchObject({ age: 40 });
    expect((await call('POST', '/v1/users', { body: { ...body, age: 151 } })).status).toBe(400);
  });
});

describe('a 501 response', () => {
  it('is not logged as an error', async () => {
    const bridge = await stack.startBridge({ LOG_LEVEL: 'info' });
    const propfind = await fetch(`${bridge.url}/v1/products`, { method: 'PROPFIND' });
    expect([propfind.status, await propfind.json()]).toMatchObject([501, { error: { code: 'NOT_IMPLEMENTED' } }]);
    expect((await fetch(`${bridge.url}/v1/products`)).status).toBe(200);
    await until(() => Promise.resolve(bridge.lines.some((line) => line.includes('/products'))));
    expect(bridge.lines.filter((line) => /"level":"error"|request failed/.test(line))).toEqual([]);
  });
});

describe('a related resource that fails', () => {
  it('is listed in _errors beside the rest, and a missing resource is 404', async () => {
    await stack.kill('content');
    const one = await call('GET', `/v1/users/${ada.id}?include=posts,orders`, { token: ada.token });
    expect(one.status).toBe(200);
    expect(one.body).toMatchObject({ id: ada.id, orders: expect.any(Array), _errors: [{ field: 'posts', code: 'UPSTREAM_ERROR' }] });
    expect(one.body).not.toHaveProperty('posts');
    expect(one.headers.get('cache-control')).toBe('no-store');
    expect((await call('GET', '/v1/users?include=posts&limit=2')).body).toMatchObject({ data: [{}, {}], _errors: [{ field: 'posts' }] });
    expect((await call('GET', '/v1/users/usr_none?include=posts')).status).toBe(404);
    expect((await call('GET', '/v1/posts')).status).toBe(502);
    await stack.revive('content');
  });
});
