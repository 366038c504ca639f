/** Requests that are sent again (spec §8, contract §4): the key is kept in the transaction of what it protects. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let other: string;
let ada: Account;
let bob: Account;
beforeAll(async () => {
  stack = await leaseStack();
  other = (await stack.startBridge()).url;
  [ada, bob] = [await stack.createAccount('Ada'), await stack.createAccount('Bob')];
});
afterAll(() => stack.stop());

const pay = (key: string, { amount = 500, account = ada, url = stack.rest, path = '/v1/payments' } = {}) =>
  request(`${url}${path}`, {
    method: 'POST',
    token: account.token,
    headers: { 'idempotency-key': key },
    body: { amount, currency: 'EUR', customerId: account.id },
  });
const countPayments = async () => Number((await stack.sql<{ count: string }>('orders', 'SELECT count(*) FROM payments'))[0]?.count);

describe('POST /payments', () => {
  it('answers 400 without an Idempotency-Key', async () => {
    const reply = await stack.call('POST', '/v1/payments', { token: ada.token, body: { amount: 1 } });
    expect(reply.status).toBe(400);
    expect((reply.body as { error: { details: { field: string }[] } }).error.details.map(({ field }) => field)).toEqual(
      expect.arrayContaining(['Idempotency-Key', 'currency', 'customerId']),
    );
    for (const key of ['a b', 'é', 'x'.repeat(256)]) expect((await pay(key)).status).toBe(400);
  });

  it('returns the stored response to a retry, at any bridge and under any prefix of the same version', async () => {
    const key = randomUUID();
    const first = await pay(key);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
    for (const again of [await pay(key), await pay(key, { url: other }), await pay(key, { path: '/api/v1/payments' })]) {
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
      expect(again.body).toEqual(first.body);
    }
    expect((await pay(key)).headers.get('etag')).toBe(first.headers.get('etag'));
  });

  it('creates one payment for fifty concurrent requests with the same key', async () => {
    const before = await countPayments();
    const key = randomUUID();
    const replies = await Promise.all(Array.from({ length: 50 }, (_, i) => pay(key, { url: i % 2 === 0 ? stack.rest : other })));
    expect(await countPayments()).toBe(before + 1);
    const made = replies.filter(({ status }) => status === 201);
    expect(new Set(made.map(({ body }) => (body as { id: string }).id)).size).toBe(1);
    expect(made.filter(({ headers }) => headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect(replies.every(({ status }) => status === 201 || status === 409)).toBe(true);
  });

  it('answers 422 to a key with another payload, and keeps the keys of callers apart', async () => {
    const key = randomUUID();
    expect((await pay(key)).status).toBe(201);
    expect((await pay(key, { amount: 501 })).body).toMatchObject({ error: { code: 'BUSINESS_RULE_VIOLATION' } });
    const bobs = await pay(key, { account: bob });
    expect([bobs.status, bobs.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });

  it('accepts a key again after 24 hours', async () => {
    const key = randomUUID();
    const first = await pay(key);
    await stack.sql('orders', `UPDATE idempotency_keys SET "createdAt" = "createdAt" - interval '24 hours 1 second'`);
    const second = await pay(key);
    expect(second.status).toBe(201);
    expect((second.body as { id: string }).id).not.toBe((first.body as { id: string }).id);
  });

  it('does not store the key of a request that failed', async () => {
    const key = randomUUID();
    expect((await pay(key, { amount: 0 })).status).toBe(400);
    expect((await pay(key)).status).toBe(201);
  });

  it('returns the stored response also when the account of the customer was deleted in between', async () => {
    const [root, customer] = [await stack.createAccount('Root', 'ADMIN'), await stack.createAccount('Gone')];
    const send = (key: string, amount = 500) =>
      stack.call('POST', '/v1/payments', {
        token: root.token,
        headers: { 'idempotency-key': key },
        body: { amount, currency: 'EUR', customerId: customer.id },
      });
    const key = randomUUID();
    const first = await send(key);
    expect(first.status).toBe(201);
    expect((await stack.call('DELETE', `/v1/users/${customer.id}`, { token: root.token })).status).toBe(204);
    const before = await countPayments();
    const again = await send(key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    // The customer is shown as it is now.
    expect(again.body).toEqual({ ...(first.body as object), customer: null });
    expect([(await send(key, 501)).status, (await send(randomUUID())).status]).toEqual([422, 410]);
    expect(await countPayments()).toBe(before);
  });

  it('returns the stored response after the process was killed between commit and response', async () => {
    const key = randomUUID();
    const before = await countPayments();
    // The commit is held up in the database until the subgraph is gone: it can't have answered.
    await stack.sql(
      'orders',
      `CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1); RETURN NULL; END $$`,
    );
    await stack.sql(
      'orders',
      `CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON payments DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold()`,
    );
    const lost = pay(key);
    await until(async () => {
      const [row] = await stack.sql<{ count: string }>(
        'orders',
        `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT' AND state = 'active'`,
      );
      return row?.count === '1';
    });
    await stack.kill('orders');
    expect((await lost).status).toBe(502);
    await until(async () => (await countPayments()) === before + 1);
    await stack.sql('orders', 'DROP FUNCTION hold CASCADE');
    await stack.revive('orders');
    const again = await pay(key);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(await countPayments()).toBe(before + 1);
  });
});

describe('a POST to another route', () => {
  it('accepts a key: creates one order, and returns it as it was created', async () => {
    const [product] = await stack.sql<{ id: number }>(
      'orders',
      `INSERT INTO products (name, description, category, price, currency, stock) VALUES ('Rope', '', 'ropes', 100, 'EUR', 5) RETURNING id`,
    );
    const headers = { 'idempotency-key': randomUUID() };
    const place = () => stack.call('POST', '/v1/orders', { token: ada.token, headers, body: { productId: product?.id, qty: 2 } });
    const first = await place();
    const { id } = first.body as { id: string };
    const cancel = () =>
      stack.call('POST', `/v1/orders/${id}/cancel`, {
        token: ada.token,
        headers: { ...headers, 'if-match': first.headers.get('etag') ?? '' },
      });
    expect((await cancel()).body).toMatchObject({ status: 'cancelled' });
    // A replay comes before preconditions: the tag is stale by now.
    const again = await cancel();
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect((await place()).body).toEqual(first.body);
    expect((await stack.sql<{ stock: number }>('orders', 'SELECT stock FROM products WHERE id = $1', [product?.id]))[0]?.stock).toBe(5);
  });

  it('creates one account, post and comment for any number of retries', async () => {
    const twice = async (path: string, body: object, token?: string) => {
      const headers = { 'idempotency-key': randomUUID() };
      const [first, second] = [
        await stack.call('POST', path, { token, headers, body }),
        await stack.call('POST', path, { token, headers, body }),
      ];
      expect([first.status, second.status, second.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
      expect(second.body).toEqual(first.body);
      return first.body as { id: string };
    };
    await twice('/v1/users', { email: 'twice@example.org', name: 'Twice', password: 'twice-and-once' });
    const { id } = await twice('/v1/posts', { title: 'Once', status: 'published' }, ada.token);
    await twice(`/v1/posts/${id}/comments`, { body: 'Once' }, bob.token);
    const kept = await stack.sql<{ result: string }>('users', 'SELECT result::text FROM idempotency_keys');
    expect(kept).toHaveLength(1);
    expect(kept[0]?.result).not.toMatch(/argon2|password|twice-and-once/i);
  });
});
