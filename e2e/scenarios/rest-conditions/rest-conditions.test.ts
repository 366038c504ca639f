/** Conditional requests over real processes (RFC 9110 §13; spec §1, §7.3; contract §4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
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

const tagOf = (reply: { headers: Headers }) => reply.headers.get('etag') ?? '';
const show = (token?: string, headers: Record<string, string> = {}) => stack.call('GET', `/v1/users/${ada.id}`, { token, headers });
const patch = (headers: Record<string, string>, body: unknown = { bio: 'x' }, token = ada.token) =>
  stack.call('PATCH', `/v1/users/${ada.id}`, { token, headers, body });
const past = new Date(0).toUTCString();
const future = new Date(Date.now() + 86_400_000).toUTCString();
/** Places an order of a new product. */
async function order() {
  const [product] = await stack.sql<{ id: number }>(
    'orders',
    `INSERT INTO products (name, description, category, price, currency, stock) VALUES ('Rope', '', 'ropes', 100, 'EUR', 10) RETURNING id`,
  );
  return stack.call('POST', '/v1/orders', { token: ada.token, body: { productId: product?.id, qty: 1 } });
}

describe('a conditional read', () => {
  it('answers 304 with the validators and caching headers of the 200, and without content headers', async () => {
    const first = await show();
    const second = await show(undefined, { 'if-none-match': `"x", W/${tagOf(first)}` });
    expect([second.status, second.text]).toEqual([304, '']);
    for (const name of ['etag', 'vary', 'cache-control', 'last-modified']) expect(second.headers.get(name)).toBe(first.headers.get(name));
    expect(second.headers.get('content-type')).toBeNull();
  });

  it('evaluates dates only without an entity tag condition', async () => {
    const { headers } = await show();
    const changed = headers.get('last-modified') ?? '';
    const statuses = [
      await show(undefined, { 'if-modified-since': changed }),
      await show(undefined, { 'if-modified-since': past }),
      await show(undefined, { 'if-modified-since': future, 'if-none-match': '"x"' }),
      await show(undefined, { 'if-unmodified-since': past }),
      await show(undefined, { 'if-unmodified-since': changed }),
      await show(undefined, { 'if-match': '"x"', 'if-none-match': tagOf(await show()) }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([304, 200, 200, 412, 200, 412]);
  });

  it('evaluates a date in the format of asctime as UTC, whatever the time zone of the process, and ignores other formats', async () => {
    const { url } = await stack.startBridge({ TZ: 'America/New_York' });
    const path = `${url}/v1/users/${ada.id}`;
    const changed = Date.parse((await request(path, { method: 'GET' })).headers.get('last-modified') ?? '');
    const statusSince = async (since: string) => (await request(path, { method: 'GET', headers: { 'if-modified-since': since } })).status;
    const toAsctime = (ms: number) => {
      const [day = '', date = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().replace(',', '').split(' ');
      return `${day} ${month} ${date.replace(/^0/, ' ')} ${time} ${year}`;
    };
    const hour = 3_600_000;
    expect([await statusSince(toAsctime(changed - hour)), await statusSince(toAsctime(changed + hour))]).toEqual([200, 304]);
    const later = new Date(changed + hour).toUTCString();
    expect([await statusSince(later), await statusSince(later.replace('GMT', '+0000'))]).toEqual([304, 200]);
  });

  it('sends no Last-Modified when the representation includes other resources', async () => {
    expect((await stack.call('GET', `/v1/users/${ada.id}?include=posts`)).headers.get('last-modified')).toBeNull();
  });

  it('sends the invoice of an order that was paid since If-Modified-Since', async () => {
    const { id } = (await order()).body as { id: string };
    const read = (headers: Record<string, string> = {}) => stack.call('GET', `/v1/orders/${id}/invoice`, { token: ada.token, headers });
    expect((await read()).body).toMatchObject({ isPaid: false });
    await stack.sql('orders', `UPDATE orders SET status = 'PAID' WHERE id = '${id}'`);
    const paid = await read({ 'if-modified-since': future });
    expect([paid.status, paid.body, paid.headers.get('last-modified')]).toMatchObject([200, { isPaid: true }, null]);
  });

  it('sends Cache-Control: public only to anonymous callers', async () => {
    const [anonymous, own] = [await show(), await show(ada.token)];
    expect(anonymous.headers.get('cache-control')).toMatch(/^public/);
    expect(own.headers.get('cache-control')).toMatch(/^private/);
    expect(tagOf(anonymous)).not.toBe(tagOf(own));
    for (const name of ['Authorization', 'X-API-Key', 'Accept', 'Accept-Encoding', 'API-Version'])
      expect(anonymous.headers.get('vary')?.split(', ')).toContain(name);
  });
});

describe('a conditional write', () => {
  it('accepts any entity tag that carries the current version, of any representation', async () => {
    const sparse = await stack.call('GET', `/v1/users/${ada.id}?fields=name`);
    expect((await patch({ 'if-match': tagOf(sparse) })).status).toBe(200);
    expect((await patch({ 'if-match': tagOf(sparse) })).status).toBe(412);
  });

  it('accepts more than 100 entity tags of which one matches, and answers 412 when none does', async () => {
    const others = Array.from({ length: 150 }, (_, i) => `"v${String(100_000 + i)}-x"`).join(', ');
    expect((await patch({ 'if-match': `${others}, ${tagOf(await show())}` })).status).toBe(200);
    expect((await patch({ 'if-match': others })).status).toBe(412);
  });

  it('applies exactly one of twenty concurrent changes with the same entity tag', async () => {
    const etag = tagOf(await show());
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => patch({ 'if-match': etag }, { bio: String(i) })));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(412)]);
  });

  it('applies all of twenty concurrent changes with If-Match: *', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => patch({ 'if-match': '*' }, { bio: String(i) })));
    expect(replies.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
  });

  it.each([
    ['If-Match: *', { 'if-match': '*' }, 200],
    ['an old date', { 'if-unmodified-since': past }, 412],
    ['a later date', { 'if-unmodified-since': future }, 200],
    ['If-None-Match: *', { 'if-none-match': '*' }, 412],
    ['a tag of another version in If-None-Match', { 'if-none-match': '"v999999-x"' }, 200],
    ['a weak tag', { 'if-match': 'W/"v1-x"' }, 412],
  ])('evaluates the condition: %s', async (_, headers, status) => {
    expect((await patch(headers)).status).toBe(status);
  });

  it('answers 404, 403 and 415 before 412, and 412 before 400', async () => {
    const stale = { 'if-match': '"v999999-x"' };
    const wrong = { age: 'old' };
    expect((await patch(stale, wrong)).status).toBe(412);
    expect((await patch(stale, '{')).status).toBe(412);
    expect((await patch({ 'if-match': tagOf(await show()) }, wrong)).status).toBe(400);
    expect((await patch({}, wrong)).status).toBe(400);
    expect((await patch({ ...stale, 'content-type': 'text/plain' }, 'x')).status).toBe(415);
    expect((await stack.call('PATCH', '/v1/users/usr_none', { token: ada.token, headers: stale, body: wrong })).status).toBe(404);
    expect((await stack.call('PATCH', `/v1/users/${ada.id}`, { headers: stale, body: wrong })).status).toBe(401);
    expect((await patch(stale, { bio: 'x' }, bob.token)).status).toBe(403);
  });

  it('evaluates the condition of an action against its order', async () => {
    const placed = await order();
    const { id } = placed.body as { id: string };
    const cancel = (headers: Record<string, string>) => stack.call('POST', `/v1/orders/${id}/cancel`, { token: ada.token, headers });
    expect((await cancel({ 'if-match': '"v7-x"' })).status).toBe(412);
    expect((await cancel({ 'if-unmodified-since': past })).status).toBe(412);
    expect((await cancel({ 'if-match': tagOf(placed) })).status).toBe(200);
  });
});

describe('a POST that creates', () => {
  const post = (headers: Record<string, string>, path = '/v1/posts') =>
    stack.call('POST', path, { token: ada.token, headers, body: { title: 'Rope' } });
  const list = (headers: Record<string, string> = {}) => stack.call('GET', '/v1/posts', { token: ada.token, headers });

  it('evaluates If-Match against the list at its path, in any content coding', async () => {
    const etag = tagOf(await list());
    expect((await post({ 'if-match': '"x"' })).status).toBe(412);
    expect((await post({ 'if-match': `W/${etag}` })).status).toBe(412);
    const made = await post({ 'if-match': `"x", ${etag}` });
    expect(made.status).toBe(201);
    expect((await post({ 'if-match': etag })).status).toBe(412);
    expect((await post({ 'if-match': tagOf(await list({ 'accept-encoding': 'gzip' })) })).status).toBe(201);
    expect((await post({ 'if-match': '*' })).status).toBe(201);
  });

  it('evaluates If-None-Match: there is a list, so that * is 412', async () => {
    expect((await post({ 'if-none-match': '*' })).status).toBe(412);
    expect((await post({ 'if-none-match': tagOf(await list()) })).status).toBe(412);
    expect((await post({ 'if-none-match': '"x"' })).status).toBe(201);
  });

  it('answers 404 below a resource that does not exist', async () => {
    const headers = { 'if-match': '"x"' };
    expect((await stack.call('POST', '/v1/posts/pst_none/comments', { token: ada.token, headers, body: { body: 'x' } })).status).toBe(404);
  });

  it('answers 404 and 412 before 400', async () => {
    const send = async (path: string, { headers = {}, token = ada.token, body = {} } = {}) =>
      (await stack.call('POST', path, { token, headers, body })).status;
    for (const body of [{}, { body: 5 }, '{', { body: 'x'.repeat(100_000) }]) {
      expect(await send('/v1/posts/pst_none/comments', { body })).toBe(404);
      expect(await send('/v1/users/usr_none/posts', { body, token: admin.token })).toBe(404);
    }
    expect(await send('/v1/posts', { headers: { 'if-none-match': '*' } })).toBe(412);
    expect(await send('/v1/posts', { headers: { 'if-match': '"x"' } })).toBe(412);
    expect(await send('/v1/posts', { headers: { 'if-match': '*' } })).toBe(400);
    expect(await send('/v1/posts')).toBe(400);
    expect(await send(`/v1/users/${ada.id}/posts`)).toBe(400);
    expect(await send(`/v1/users/${ada.id}/posts?unknown=1`)).toBe(400);
  });

  it('gets the stored response with the Idempotency-Key of a creation that has changed the list', async () => {
    const headers = { 'if-match': tagOf(await list()), 'idempotency-key': 'conditional-creation' };
    const [first, again] = [await post(headers), await post(headers)];
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
    expect(again.body).toEqual(first.body);
    expect((await post({ ...headers, 'idempotency-key': 'another-key' })).status).toBe(412);
  });
});

describe('a PUT', () => {
  const id = 'usr_0123456789abcdefghjkmnpqrs';
  const put = (headers: Record<string, string>, body: object, token = admin.token) =>
    stack.call('PUT', `/v1/users/${id}`, { token, headers, body });
  const whole = { email: 'put@example.org', name: 'Put', password: 'a-long-password' };

  it('creates a missing account for administrators, and with If-None-Match: * only a missing one', async () => {
    expect((await put({}, whole, ada.token)).status).toBe(404);
    expect((await put({ 'if-match': '*' }, whole)).status).toBe(412);
    expect((await put({ 'if-match': '"v1-x"' }, whole)).status).toBe(412);
    expect((await put({}, { email: 'put@example.org', name: 'Put' })).status).toBe(400);
    const made = await put({ 'if-none-match': '*' }, whole);
    expect([made.status, made.headers.get('location')]).toEqual([201, `/v1/users/${id}`]);
    expect((await put({ 'if-none-match': '*' }, whole)).status).toBe(412);
    const known = { email: whole.email, name: whole.name };
    expect((await put({}, { ...known, bio: 'here' })).status).toBe(200);
    expect((await put({ 'if-match': '*' }, known)).body).toMatchObject({ bio: null });
    expect((await stack.call('DELETE', `/v1/users/${id}`, { token: admin.token })).status).toBe(204);
    expect((await put({}, whole)).status).toBe(410);
    expect((await stack.call('DELETE', `/v1/users/${id}`, { token: admin.token })).status).toBe(404);
    expect((await stack.call('GET', `/v1/users/${id}`)).status).toBe(410);
  });
});
