/** Lists by REST: filters, sort, shape and pages, against the rows in the database (spec §4.3, §4.4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let admin: Account;

beforeAll(async () => {
  stack = await leaseStack();
  admin = await stack.createAccount('Root', 'ADMIN');
  await stack.sql(
    'users',
    `INSERT INTO users (id, email, name, age, role, "isActive", "createdAt", "updatedAt")
     SELECT 'usr_' || lpad(n::text, 26, '0'), 'p' || n || '@example.org', 'Person ' || lpad(n::text, 2, '0'), CASE WHEN n % 5 = 0 THEN NULL ELSE 20 + n END,
            (CASE WHEN n % 10 = 0 THEN 'MODERATOR' ELSE 'USER' END)::"Role", n % 3 <> 0, '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 day', now()
     FROM generate_series(1, 40) n`,
  );
});
afterAll(() => stack.stop());

interface List {
  data: Record<string, unknown>[];
  pagination: Record<string, unknown>;
  meta: Record<string, unknown>;
  links: Record<string, string | null>;
}

async function list(path: string): Promise<List & { link: string | null }> {
  const { status, body, text, headers } = await stack.call('GET', path);
  if (status !== 200) throw new Error(`${String(status)} ${text}`);
  return { ...(body as List), link: headers.get('link') };
}

describe('GET /users', () => {
  it('filters, sorts and selects fields', async () => {
    const rows = await stack.sql<{ id: string; name: string }>(
      'users',
      `SELECT id, name FROM users WHERE role = 'USER' AND "isActive" AND age >= 25 AND age <= 50 ORDER BY "createdAt" DESC, id DESC LIMIT 5`,
    );
    const { data } = await list('/v1/users?role=user&isActive=true&age_gte=25&age_lte=50&sort=-createdAt&fields=id,name&limit=5');
    expect(data).toEqual(rows);
  });

  it('answers page=1 and limit=10 by default, with totals and the cursor of the next page', async () => {
    const { data, pagination, link } = await list('/v1/users');
    expect(data).toHaveLength(10);
    expect(pagination).toMatchObject({ page: 1, limit: 10, total: 41, totalPages: 5, hasNextPage: true });
    expect(link).toContain('rel="next"');
    const next = await list(`/v1/users?cursor=${String(pagination['nextCursor'])}&limit=10`);
    const second = await list('/v1/users?page=2');
    expect(next.data).toEqual(second.data);
    expect(next.pagination).toMatchObject({ limit: 10, hasNextPage: true, hasPrevPage: true });
  });

  it('returns every item once in both directions by cursor, also items whose sort field is null', async () => {
    for (const sort of ['age,-name', '-age', 'role,-createdAt', '-id']) {
      const ids: unknown[] = [];
      const pages: string[] = [];
      for (let cursor = ''; ;) {
        const { data, pagination } = await list(`/v1/users?sort=${sort}&limit=7&cursor=${cursor}`);
        ids.push(...data.map(({ id }) => id));
        pages.push(JSON.stringify(data));
        if (!pagination['hasNextPage']) {
          const back = await list(`/v1/users?sort=${sort}&limit=7&cursor=${String(pagination['prevCursor'])}`);
          expect(JSON.stringify(back.data)).toBe(pages.at(-2));
          break;
        }
        cursor = String(pagination['nextCursor']);
      }
      expect(new Set(ids).size).toBe(41);
      expect(ids).toHaveLength(41);
    }
  });

  it('neither skips nor repeats items when others are created and deleted between pages', async () => {
    const first = await list('/v1/users?sort=createdAt&limit=5');
    await stack.sql(
      'users',
      `INSERT INTO users (id, email, name, "createdAt") VALUES ('usr_early', 'early@example.org', 'Early', '2025-01-01')`,
    );
    await stack.sql('users', 'DELETE FROM users WHERE id = $1', [first.data[4]?.['id']]);
    const second = await list(`/v1/users?sort=createdAt&limit=5&cursor=${String(first.pagination['nextCursor'])}`);
    expect(second.data[0]?.['name']).toBe('Person 06');
    await stack.sql('users', `DELETE FROM users WHERE id = 'usr_early'`);
  });

  it('supports paging by offset and by perPage with their envelopes', async () => {
    const offset = await list('/v1/users?offset=38&limit=10');
    expect(offset.pagination).toEqual({ total: 40, limit: 10, offset: 38, hasMore: false });
    expect(offset.data).toHaveLength(2);
    const paged = await list('/v1/users?page=2&perPage=15&role=user');
    expect(paged.meta).toMatchObject({ currentPage: 2, perPage: 15 });
    expect(paged.links['prev']).toBe('/v1/users?role=user&page=1&perPage=15');
  });

  it.each([
    ['role=king', 'role'],
    ['age_gte=old', 'age_gte'],
    ['age=99999999999', 'age'],
    ['isActive=1', 'isActive'],
    ['createdAt_gte=2026-02-30T00:00:00Z', 'createdAt_gte'],
    ['sort=passwordHash', 'sort'],
    ['sort=name&order=up', 'order'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['page=0', 'page'],
    ['cursor=nonsense', 'cursor'],
    ['after=nonsense', 'after'],
    [`after=${Buffer.from('~nonsense').toString('base64url')}`, 'after'],
    ['page=2&offset=3', 'page'],
    ['color=red', 'color'],
    ['role=user&role=admin', 'role'],
    [`name=${'x'.repeat(300)}`, 'name'],
  ])('answers 400 to ?%s and names %s', async (query, field) => {
    const { status, body } = await stack.call('GET', `/v1/users?${query}`);
    expect(status).toBe(400);
    expect((body as { error: { details: { field: string }[] } }).error.details.map((detail) => detail.field)).toContain(field);
  });

  it('allows filtering and sorting by email to administrators only', async () => {
    for (const query of ['email=p1@example.org', 'sort=email']) {
      const anonymous = await stack.call('GET', `/v1/users?${query}`);
      expect([query, anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([query, 401, 'Bearer realm="api"']);
    }
    const { body } = await stack.call('GET', '/v1/users?email=P1@example.org', { token: admin.token });
    expect((body as List).data).toHaveLength(1);
  });

  it('searches within names and treats % and _ as ordinary characters', async () => {
    expect((await list('/v1/users?q=RSON%2007')).data).toHaveLength(1);
    expect((await list('/v1/users?q=%25')).data).toHaveLength(0);
  });
});

describe('GET /products and GET /posts', () => {
  beforeAll(async () => {
    await stack.sql(
      'orders',
      `INSERT INTO products (name, description, category, price, currency, stock)
       SELECT 'Thing ' || n, 'A thing', CASE WHEN n % 2 = 0 THEN 'tools' ELSE 'ropes' END, n * 100, 'EUR', n FROM generate_series(1, 20) n`,
    );
    await stack.sql(
      'content',
      `INSERT INTO posts (id, title, body, status, tags, "authorId") SELECT 'pst_' || lpad(n::text, 26, '0'), 'Post ' || n, 'About trestles', (CASE WHEN n % 2 = 0 THEN 'PUBLISHED' ELSE 'DRAFT' END)::"PostStatus", ARRAY['steel'], $1 FROM generate_series(1, 10) n`,
      [admin.id],
    );
    const comment = { token: admin.token, body: { body: 'Riveted' } };
    await stack.call('POST', '/v1/posts/pst_00000000000000000000000002/comments', comment);
  });

  it('accepts minPrice and maxPrice, and returns integer ids of products', async () => {
    const { data } = await list('/v1/products?category=tools&minPrice=500&maxPrice=1500&sort=-price&limit=3');
    expect(data.map(({ price }) => price)).toEqual([1400, 1200, 1000]);
    expect(typeof data[0]?.['id']).toBe('number');
  });

  it('answers 400 to two names of one filter', async () => {
    const { status, body } = await stack.call('GET', '/v1/products?minPrice=500&price_gte=1000');
    const fault = { field: 'minPrice', message: 'cannot be combined with price_gte' };
    expect([status, (body as { error: { details: unknown } }).error.details]).toEqual([400, [fault]]);
  });

  it.each(['/v1/products', '/v1/posts', '/v1/users', '/v1/posts/pst_00000000000000000000000002/comments'])(
    'does not filter %s by a blank q',
    async (path) => {
      const totals = await Promise.all(['', '?q=', '?q=%20%20'].map(async (query) => (await list(path + query)).pagination['total']));
      expect(totals[0]).toBeGreaterThan(0);
      expect(totals).toEqual([totals[0], totals[0], totals[0]]);
    },
  );

  it('returns published posts to all callers and drafts to their authors, with author and tags', async () => {
    const { data, pagination } = await list('/v1/posts?tag=steel&q=trestle&in=title,body&include=author,tags&fields=title,status');
    expect(pagination['total']).toBe(5);
    expect(data[0]).toMatchObject({ status: 'published', tags: ['steel'], author: { id: admin.id, name: 'Root' } });
    expect((await list('/v1/posts?status=draft')).data).toEqual([]);
    const { body } = await stack.call('GET', `/v1/users/${admin.id}/posts?status=draft`, { token: admin.token });
    expect((body as List).pagination['total']).toBe(5);
  });
});
