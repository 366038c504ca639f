/** What the other nouns offer by REST (spec §4.2, contract §4), and what a resource shows when a part of it fails. */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import type { Account } from '../../stack/stack.ts';
import { ada, admin, bob, call, ids, stack, useRoutes } from './routes-system.ts';

useRoutes();

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
