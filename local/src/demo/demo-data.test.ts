import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { DEMO_ACCOUNTS } from './accounts.ts';
import { createDemoData } from './demo-data.ts';
import type { Order, OrderStatus } from './shop.ts';
import { CATALOGUE } from './catalogue.ts';

const { users: accounts, orders: shop, content } = createDemoData();
const { order_items: items } = shop;
const people = new Map(accounts.users.map((user) => [user.id, user]));
const count = <T>(rows: readonly T[], key: (row: T) => string) => {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(key(row), (counts.get(key(row)) ?? 0) + 1);
  return counts;
};

describe('createDemoData', () => {
  it('returns the same data each time', () => {
    expect(createDemoData()).toEqual({ users: accounts, orders: shop, content });
  });

  it('contains every id that the OpenAPI document uses as an example of a path parameter', () => {
    const file = fileURLToPath(new URL('../../../schema/openapi/v1.json', import.meta.url));
    const ids = [...readFileSync(file, 'utf8').matchAll(/"in": "path",[^{}]*\{[^{}]*\},\s*"example": "([^"]+)"/g)].map(
      ([, id]) => id ?? '',
    );
    expect(new Set(ids).size).toBeGreaterThan(7);
    const rows = Object.values({ ...accounts, ...shop, ...content }).flatMap((each) =>
      each.map((row) => String((row as { id?: unknown }).id)),
    );
    const known = new Set([...rows, ...DEMO_ACCOUNTS.map(({ keyId }) => keyId)]);
    expect(ids.filter((id) => !known.has(id))).toEqual([]);
  });

  it('contains at least the numbers of rows and states that contract §1 requires', () => {
    expect(accounts.users.length).toBeGreaterThanOrEqual(50);
    expect(content.posts.length).toBeGreaterThanOrEqual(200);
    expect([...count(content.posts, ({ status }) => status).keys()].sort()).toEqual(['ARCHIVED', 'DRAFT', 'PUBLISHED']);
    expect(content.comments.length).toBeGreaterThanOrEqual(600);
    expect(shop.products.length).toBeGreaterThanOrEqual(60);
    expect(count(shop.products, ({ category }) => category).size).toBeGreaterThanOrEqual(6);
    expect(shop.orders.length).toBeGreaterThanOrEqual(300);
    expect([...count(content.videos, ({ status }) => status).keys()].sort()).toEqual(['PUBLISHED', 'UPLOADED']);
    expect(content.channels).toHaveLength(3);
    expect([...count(content.messages, ({ channelId }) => channelId).values()].every((messages) => messages >= 10)).toBe(true);
  });

  it('contains at least 10 orders and 5 published posts each of Ada and Bob', () => {
    for (const email of ['ada@example.com', 'bob@example.com']) {
      const id = DEMO_ACCOUNTS.find((account) => account.email === email)?.id;
      expect(shop.orders.filter(({ customerId }) => customerId === id).length).toBeGreaterThanOrEqual(10);
      expect(content.posts.filter(({ authorId, status }) => authorId === id && status === 'PUBLISHED').length).toBeGreaterThanOrEqual(5);
    }
  });

  it('contains unique ids in the format of the subgraphs, which sort by the time of creation', () => {
    const tables = [
      ['usr', accounts.users],
      ['ord', shop.orders],
      ['itm', items],
      ['inv', shop.invoices],
      ['pay', shop.payments],
      ['pst', content.posts],
      ['cmt', content.comments],
      ['vid', content.videos],
      ['chn', content.channels],
      ['msg', content.messages],
    ] as const;
    const ids = tables.flatMap(([prefix, rows]) => {
      for (const { id } of rows) expect(id).toMatch(new RegExp(`^${prefix}_[0-9a-hjkmnp-tv-z]{26}$`));
      return rows.map(({ id }) => id);
    });
    expect(new Set(ids).size).toBe(ids.length);
    const posts = content.posts.map(({ id, createdAt }) => ({ id, time: createdAt.getTime() }));
    expect(posts.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(posts.toSorted((a, b) => a.time - b.time));
  });

  it('contains no e-mail address and no name twice', () => {
    expect(new Set(accounts.users.map(({ email }) => email)).size).toBe(accounts.users.length);
    expect(new Set(accounts.users.map(({ name }) => name)).size).toBe(accounts.users.length);
    for (const { email } of accounts.users) expect(email).toMatch(/^[a-z.-]+@example\.com$/);
  });

  it('contains no action before the account was created, and no update before the creation', () => {
    const actions = [
      ...shop.orders.map(({ customerId, createdAt }) => [customerId, createdAt] as const),
      ...content.posts.map(({ authorId, createdAt }) => [authorId, createdAt] as const),
      ...content.comments.map(({ authorId, createdAt }) => [authorId, createdAt] as const),
      ...content.messages.map(({ authorId, createdAt }) => [authorId, createdAt] as const),
      ...content.videos.map(({ ownerId, createdAt }) => [ownerId, createdAt] as const),
    ];
    for (const [id, time] of actions) expect(people.get(id)?.createdAt.getTime()).toBeLessThan(time.getTime());
    const rows = [...accounts.users, ...Object.values(shop).flat(), ...Object.values(content).flat()];
    for (const row of rows) {
      if (!('createdAt' in row)) continue;
      expect(row.updatedAt.getTime()).toBeGreaterThanOrEqual(row.createdAt.getTime());
      if (row.updatedAt > row.createdAt) expect(row.version).toBeGreaterThan(1);
      expect(row.createdAt.getMilliseconds() + row.updatedAt.getMilliseconds()).toBe(0);
    }
  });

  it('contains no title of a post twice, no comment twice on a post, and comments only on posts that were published', () => {
    expect(new Set(content.posts.map(({ title }) => title)).size).toBe(content.posts.length);
    const posts = new Map(content.posts.map((post) => [post.id, post]));
    for (const comment of content.comments) {
      expect(posts.get(comment.postId)?.status).not.toBe('DRAFT');
      expect(comment.createdAt.getTime()).toBeGreaterThan(posts.get(comment.postId)?.createdAt.getTime() ?? Infinity);
    }
    const said = content.comments.map(({ postId, body }) => `${postId}: ${body}`);
    expect(new Set(said).size).toBe(said.length);
    for (const { body } of [...content.posts, ...content.comments]) expect(body).not.toMatch(/[{}]|undefined/);
  });
});

describe('orders of the demo data', () => {
  const itemsOf = (order: Order) => items.filter(({ orderId }) => orderId === order.id);
  const paymentsOf = (order: Order) => shop.payments.filter(({ orderId }) => orderId === order.id);

  it('have every status, and are cancelled with and without a payment', () => {
    const states: OrderStatus[] = ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'];
    for (const status of states) expect(shop.orders.some((order) => order.status === status)).toBe(true);
    const cancelled = shop.orders.filter(({ status }) => status === 'CANCELLED').map((order) => paymentsOf(order).length);
    expect(new Set(cancelled)).toEqual(new Set([0, 1]));
  });

  it('have the total of their items and exactly one invoice', () => {
    for (const order of shop.orders) {
      expect(itemsOf(order).length).toBeGreaterThan(0);
      expect(itemsOf(order).reduce((sum, { total }) => sum + total, 0)).toBe(order.total);
      expect(shop.invoices.filter(({ orderId }) => orderId === order.id).map(({ total }) => total)).toEqual([order.total]);
    }
    for (const item of items) expect(item.total).toBe(item.qty * item.unitPrice);
  });

  it('have no payment while pending, a full payment from paid on, and a refunded one when cancelled', () => {
    for (const order of shop.orders) {
      const payments = paymentsOf(order).map(({ status, amount }) => ({ status, amount }));
      if (order.status === 'PENDING') expect(payments).toEqual([]);
      else if (order.status === 'CANCELLED') expect(payments.every(({ status }) => status === 'REFUNDED')).toBe(true);
      else expect(payments).toEqual([{ status: 'SUCCEEDED', amount: order.total }]);
      for (const { amount } of payments) expect(amount).toBe(order.total);
    }
  });

  it('have the version that follows from their status changes', () => {
    const versions = { PENDING: 1, PAID: 2, SHIPPED: 3, DELIVERED: 4 };
    for (const order of shop.orders) {
      expect(order.version).toBe(order.status === 'CANCELLED' ? 2 + paymentsOf(order).length : versions[order.status]);
    }
  });

  it('reduce the stock by the quantities sold, without those of cancelled orders', () => {
    const first = Object.values(CATALOGUE).flatMap((rows) => rows.map(([, , stock]) => stock));
    const cancelled = new Set(shop.orders.filter(({ status }) => status === 'CANCELLED').map(({ id }) => id));
    for (const product of shop.products) {
      const sold = items.filter(({ productId, orderId }) => productId === product.id && !cancelled.has(orderId));
      const left = (first[product.id - 1] ?? 0) - sold.reduce((sum, { qty }) => sum + qty, 0);
      expect(left).toBeGreaterThanOrEqual(0);
      expect([left, 0]).toContain(product.stock);
    }
    expect(shop.products.filter(({ stock }) => stock === 0)).toHaveLength(3);
  });
});
