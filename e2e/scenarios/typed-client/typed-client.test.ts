/** The typed client against the running system: its types match what the bridge accepts and returns. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTrestleClient, createTrestleClientV2 } from '@trestle/client';
import { toWebm } from '../../stack/clients/multipart.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let admin: Account;
beforeAll(async () => {
  stack = await leaseStack();
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => stack.stop());

describe('createTrestleClient', () => {
  it('creates an account, logs in, creates orders, pays once, and pages through the orders', async () => {
    const anonymous = createTrestleClient({ baseUrl: stack.rest });
    const password = 'typed-Passw0rd';
    const made = await anonymous.POST('/users', { body: { email: 'typed@example.org', name: 'Typed', password } });
    expect(made.response.status).toBe(201);
    const login = await anonymous.POST('/auth/login', { body: { email: 'typed@example.org', password } });

    let token = login.data?.accessToken;
    const own = createTrestleClient({ baseUrl: stack.rest, token: () => token });
    const shop = createTrestleClient({ baseUrl: stack.rest, token: admin.token });
    const product = await shop.POST('/products', {
      body: { name: 'Rope', category: 'ropes', price: 1250, currency: 'EUR', stock: 9, description: '' },
    });
    const productId = product.data?.id ?? 0;
    for (let i = 0; i < 3; i++) expect((await own.POST('/orders', { body: { productId, qty: 1 } })).response.status).toBe(201);

    const pay = () =>
      own.POST('/payments', {
        params: { header: { 'Idempotency-Key': key } },
        body: { amount: 1250, currency: 'EUR', customerId: made.data?.id ?? '' },
      });
    const key = randomUUID();
    const [first, second] = [await pay(), await pay()];
    expect(second.data).toEqual(first.data);
    expect(second.response.headers.get('idempotent-replayed')).toBe('true');

    const seen = new Set<string | undefined>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Awaited<ReturnType<typeof list>> = await list(cursor);
      for (const { id } of page.data?.data ?? []) seen.add(id);
      const pagination = page.data?.pagination;
      cursor = pagination && 'nextCursor' in pagination ? pagination.nextCursor : null;
    }
    expect(seen.size).toBe(3);

    token = undefined;
    const refused = await own.GET('/orders');
    expect(refused.error).toMatchObject({ error: { code: 'UNAUTHORIZED' } });

    function list(cursor: string) {
      return own.GET('/orders', { params: { query: { cursor, limit: 2, sort: ['-createdAt', 'id'] } } });
    }
  });
});

describe('a request with bytes', () => {
  const bytes = new Uint8Array(toWebm(2000));
  const file = new Blob([bytes], { type: 'video/webm' });
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const connect = () => createTrestleClient({ baseUrl: stack.rest, token: admin.token });

  it('uploads a video as it is, and in a form', async () => {
    const api = connect();
    const headers = { 'content-type': file.type };
    const replies = [
      await api.POST('/videos', { params: { query: { title: 'Bridge' } }, body: file, headers }),
      await api.POST('/videos', { body: { title: 'Bridge', file } }),
    ];
    expect(replies.map(({ data, error }) => error ?? data.content?.sha256)).toEqual([sha256, sha256]);
  });

  it('uploads a video in parts', async () => {
    const api = connect();
    const { data } = await api.POST('/uploads', { body: { title: 'Bridge', size: file.size, sha256 } });
    const id = data?.id ?? '';
    for (const offset of [0, 1000]) {
      const part = await api.PATCH('/uploads/{id}', {
        params: { path: { id }, header: { 'Upload-Offset': String(offset) } },
        body: file.slice(offset, offset === 0 ? 1000 : undefined),
        headers: { 'content-type': 'application/offset+octet-stream' },
      });
      expect(part.error).toBeUndefined();
    }
    expect((await api.GET('/uploads/{id}', { params: { path: { id } } })).data?.offset).toBe(file.size);
  });
});

describe('createTrestleClientV2', () => {
  it('calls version 2, and does not compile calls that the documents do not contain', async () => {
    const api = createTrestleClientV2({ baseUrl: stack.rest });
    const { data } = await api.GET('/products', { params: { query: { fields: ['price'] } } });
    expect(data?.data[0]?.price).toEqual({ amount: 1250, currency: 'EUR' });
    // @ts-expect-error: there is no such field
    expect(data?.data[0]?.colour).toBeUndefined();
    // @ts-expect-error: there is no such path
    expect((await api.GET('/nothing')).response.status).toBe(404);
    // @ts-expect-error: the limit is a number
    expect((await api.GET('/products', { params: { query: { limit: 'ten' } } })).response.status).toBe(400);
  });
});
