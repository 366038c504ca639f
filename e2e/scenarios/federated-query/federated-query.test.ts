/** One query across three databases, compared with the rows in them (spec §2.5, design "No N+1 anywhere"). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SUBGRAPH_NAMES } from '@trestle/schema/subgraphs';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

const USERS = 50;

let stack: LeasedStack;
let admin: Account;

beforeAll(async () => {
  stack = await leaseStack();
  admin = await stack.createAccount('Root', 'ADMIN');
  await stack.sql(
    'users',
    `INSERT INTO users (id, email, name, "createdAt") SELECT 'usr_' || n, 'p' || n || '@example.org', 'Person ' || n, '2026-01-01'::timestamptz + n * interval '1 hour' FROM generate_series(1, $1::int) n`,
    [USERS - 1],
  );
  await stack.sql(
    'orders',
    `INSERT INTO products (name, description, category, price, currency, stock) SELECT 'Thing ' || n, '', 'tools', n, 'EUR', 100 FROM generate_series(1, 5) n`,
  );
  await stack.sql(
    'orders',
    `INSERT INTO orders (id, "customerId", total, currency) SELECT 'ord_' || n || '_' || k, 'usr_' || n, k, 'EUR' FROM generate_series(1, $1::int) n, generate_series(1, 3) k`,
    [USERS - 1],
  );
  await stack.sql(
    'orders',
    `INSERT INTO order_items (id, "orderId", "productId", qty, "unitPrice", total) SELECT 'itm' || id, id, total, 1, total, total FROM orders`,
  );
  await stack.sql(
    'content',
    `INSERT INTO posts (id, title, body, status, "authorId") SELECT 'pst_' || n || '_' || k, 'Post ' || k, '', 'PUBLISHED', 'usr_' || n FROM generate_series(1, $1::int) n, generate_series(1, 3) k`,
    [USERS - 1],
  );
  await stack.sql(
    'content',
    `INSERT INTO comments (id, body, "postId", "authorId") SELECT 'cmt_' || p.id || k, 'Yes', p.id, 'usr_' || k FROM posts p, generate_series(1, 2) k`,
  );
});
afterAll(() => stack.stop());

interface Data {
  users: {
    id: string;
    posts: { title: string; comments: { totalCount: number; edges: { node: { author: { name: string } } }[] } }[];
    orders: { total: number; items: { product: { name: string } }[] }[];
  }[];
}

const QUERY = `query($limit: Int!) {
  users(pagination: { limit: $limit }) {
    id
    posts { title comments { totalCount edges { node { author { name } } } } }
    orders { total items { product { name } } }
  }
}`;

it('answers one query from the databases of users, orders and content', async () => {
  const { data, errors } = await stack.graphql<Data>(QUERY, { token: admin.token, variables: { limit: USERS } });
  expect(errors).toEqual([]);
  expect(data?.users).toHaveLength(USERS);
  for (const user of data?.users.filter(({ id }) => id !== admin.id) ?? []) {
    expect(user.orders.map(({ total }) => total).sort()).toEqual([1, 2, 3]);
    for (const { total, items } of user.orders) expect(items).toEqual([{ product: { name: `Thing ${String(total)}` } }]);
    expect(user.posts.map(({ title }) => title).sort()).toEqual(['Post 1', 'Post 2', 'Post 3']);
    for (const { comments } of user.posts) {
      expect(comments.totalCount).toBe(2);
      expect(comments.edges.map(({ node }) => node.author.name)).toEqual(['Person 1', 'Person 2']);
    }
  }
});

it('sends as many SQL statements for fifty users as for two', async () => {
  const count = async (): Promise<number> => {
    const counts = await Promise.all(
      SUBGRAPH_NAMES.map(async (name) => {
        const text = await fetch(`${stack.subgraphs[name].url}/metrics`).then((reply) => reply.text());
        return Number(/^trestle_sql_statements_total (\d+)$/m.exec(text)?.[1] ?? NaN);
      }),
    );
    return counts.reduce((sum, each) => sum + each, 0);
  };
  /** Subgraphs also send statements of their own, e.g. for events and jobs, so the least of some counts is that of the query. */
  const cost = async (limit: number): Promise<number> => {
    const costs: number[] = [];
    for (let i = 0; i < 10; i++) {
      const before = await count();
      await stack.graphql(QUERY, { token: admin.token, variables: { limit } });
      costs.push((await count()) - before);
    }
    return Math.min(...costs);
  };
  await cost(USERS);
  const few = await cost(3);
  const many = await cost(USERS);
  expect(many).toBe(few);
  expect(many).toBeLessThanOrEqual(10);
});

it('resolves any node by its id, and null for an id of an unknown kind', async () => {
  const node = (id: string) =>
    stack.graphql<{ node: unknown }>('query($id: ID!) { node(id: $id) { __typename id ... on Product { name } ... on User { name } } }', {
      variables: { id },
    });
  expect((await node('3')).data?.node).toEqual({ __typename: 'Product', id: '3', name: 'Thing 3' });
  expect((await node(admin.id)).data?.node).toEqual({ __typename: 'User', id: admin.id, name: 'Root' });
  expect((await node('nothing')).data?.node).toBeNull();
});
