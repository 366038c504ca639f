/** What accounts do with their webhooks by REST and GraphQL (contract §4). */
import { describe, expect, it } from '@jest/globals';
import { type Reply, request } from '../../stack/clients/client.ts';
import { type Webhook, ada, admin, bob, call, create, stack, useWebhooks } from './webhook-system.ts';

useWebhooks();

const codeOf = ({ body }: Reply) => (body as { error?: { code: string } }).error?.code;

describe('POST /v1/webhooks', () => {
  it('shows the secret once, and stores it encrypted', async () => {
    const { secret, webhook, reply, path } = await create(ada, 'http://127.0.0.1:9/a', ['post.*', 'order.paid']);
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect([reply.headers.get('location'), reply.headers.get('cache-control')]).toEqual([path, 'no-store']);
    expect(webhook).toMatchObject({ types: ['post.*', 'order.paid'], isEnabled: true, disabledReason: null });
    const shown = await call('GET', path, ada);
    expect([shown.status, shown.text.includes(secret.slice(6, 20))]).toEqual([200, false]);
    const [row] = await stack.sql<{ secret: Buffer }>('users', 'SELECT secret FROM webhooks WHERE id = $1', [webhook.id]);
    expect(row?.secret.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
    expect((await call('DELETE', path, ada)).status).toBe(204);
  });

  it.each([
    [{ url: 'ftp://example.com/' }, 'url'],
    [{ url: 'https://user:word@example.com/' }, 'url'],
    [{ url: 'nothing' }, 'url'],
    [{ url: `https://example.com/${'x'.repeat(2000)}` }, 'url'],
    [{ name: '' }, 'name'],
    [{ types: [] }, 'types'],
    [{ types: ['post.eaten'] }, 'types'],
    [{ secret: 'whsec_x' }, 'secret'],
  ])('refuses %j', async (body, field) => {
    const reply = await call('POST', '/v1/webhooks', ada, { body: { name: 'x', url: 'https://example.com/', ...body } });
    expect([reply.status, codeOf(reply)]).toEqual([400, 'VALIDATION_ERROR']);
    expect(reply.text).toContain(`"field":"${field}"`);
  });

  it('answers 409 to a repeated Idempotency-Key, and creates and rotates nothing else', async () => {
    const headers = { 'idempotency-key': 'same-key' };
    const body = { name: 'Alone', url: 'http://127.0.0.1:9/alone' };
    const make = () => call('POST', '/v1/webhooks', ada, { body, headers });
    const [made, again] = [await make(), await make()];
    expect([made.status, again.status, codeOf(again)]).toEqual([201, 409, 'CONFLICT']);
    const path = made.headers.get('location') ?? '';
    const rotate = () => call('POST', `${path}/rotations`, ada, { body: {}, headers });
    const [rotated, repeated] = [await rotate(), await rotate()];
    expect([rotated.status, repeated.status, codeOf(repeated)]).toEqual([201, 409, 'CONFLICT']);
    expect(await stack.sql('users', `SELECT version FROM webhooks WHERE name = 'Alone'`)).toEqual([{ version: 2 }]);
    expect((await call('DELETE', path, ada)).status).toBe(204);
  });

  it('allows 20 webhooks for an account, also when they are created at once', async () => {
    const crowd = await stack.createAccount('Crowd');
    const replies = await Promise.all(
      Array.from({ length: 25 }, () => call('POST', '/v1/webhooks', crowd, { body: { name: 'x', url: 'https://example.com/' } })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(20);
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(5);
    expect((await call('DELETE', `/v1/users/${crowd.id}`, crowd)).status).toBe(204);
  });
});

describe('createWebhook', () => {
  it('creates one webhook for an Idempotency-Key: a repetition is CONFLICT', async () => {
    const send = async () => {
      const query = 'mutation { createWebhook(input: { name: "Once", url: "http://127.0.0.1:9/once" }) { secret } }';
      const headers = { 'idempotency-key': 'made-once' };
      const { body } = await request(`${stack.gateway}/graphql`, { method: 'POST', token: ada.token, headers, body: { query } });
      return (body as { errors?: { extensions: { code: string } }[] }).errors?.[0]?.extensions.code;
    };
    expect([await send(), await send()]).toEqual([undefined, 'CONFLICT']);
    expect(await stack.sql('users', `SELECT FROM webhooks WHERE name = 'Once'`)).toHaveLength(1);
    const kept = await stack.sql<{ text: string }>('users', 'SELECT k::text AS text FROM idempotency_keys k');
    expect(JSON.stringify(kept)).not.toContain('whsec_');
  });
});

describe('a webhook', () => {
  it('is hidden from other accounts, and administrators manage it', async () => {
    const { path, webhook } = await create(ada, 'http://127.0.0.1:9/b');
    expect([(await call('GET', path, bob)).status, (await call('GET', path, undefined)).status]).toEqual([404, 401]);
    for (const [method, suffix] of [
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/rotations'],
      ['POST', '/pings'],
    ] as const) {
      const body = method === 'DELETE' || suffix === '/pings' ? undefined : {};
      expect([(await call(method, `${path}${suffix}`, bob, { body })).status, method, suffix]).toEqual([404, method, suffix]);
    }
    expect((await call('GET', `${path}/deliveries`, bob)).status).toBe(404);
    expect((await call('GET', `/v1/webhooks?userId=${ada.id}`, bob)).status).toBe(403);
    const listed = (await call('GET', `/v1/webhooks?userId=${ada.id}`, admin)).body as { data: Webhook[] };
    expect(listed.data.map(({ id }) => id)).toContain(webhook.id);
    expect((await call('PATCH', path, admin, { body: { isEnabled: false } })).body).toMatchObject({
      isEnabled: false,
      disabledReason: 'owner',
    });
    expect((await call('DELETE', path, ada)).status).toBe(204);
    for (const at of [path, `${path}/deliveries`]) {
      const afterwards = await Promise.all([bob, ada, admin].map((account) => call('GET', at, account)));
      expect(afterwards.map(({ status }) => status)).toEqual([404, 410, 410]);
    }
  });

  it('is changed under its version, and leaves a tombstone', async () => {
    const { path, reply } = await create(ada, 'http://127.0.0.1:9/c');
    const etag = reply.headers.get('etag') ?? '';
    expect((await call('PATCH', path, ada, { body: { name: 'New' }, headers: { 'if-match': etag } })).status).toBe(200);
    expect((await call('PATCH', path, ada, { body: { name: 'Newer' }, headers: { 'if-match': etag } })).status).toBe(412);
    expect([(await call('DELETE', path, ada)).status, (await call('GET', path, ada)).status]).toEqual([204, 410]);
    expect((await call('DELETE', path, ada)).status).toBe(404);
  });

  it('is found by its id with `node`', async () => {
    const { webhook, path } = await create(ada, 'http://127.0.0.1:9/d');
    const query = 'query ($id: ID!) { node(id: $id) { id ... on Webhook { url user { id } } } }';
    const found = await stack.graphql<{ node: object | null }>(query, { variables: { id: webhook.id }, token: ada.token });
    expect(found.data?.node).toEqual({ id: webhook.id, url: webhook.url, user: { id: ada.id } });
    expect((await stack.graphql<{ node: null }>(query, { variables: { id: webhook.id }, token: bob.token })).data?.node).toBeNull();
    await call('DELETE', path, ada);
  });
});
