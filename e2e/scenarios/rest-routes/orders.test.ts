/** Orders, invoices and payments by REST (spec §4.2, contract §4). */
import { describe, expect, it } from '@jest/globals';
import { type Body, ada, admin, bob, call, ids, stack, useRoutes } from './routes-system.ts';

useRoutes();

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
    const { createdAt } = placed.body;
    expect(items.body).toMatchObject({
      data: [
        { createdAt, updatedAt: createdAt },
        { createdAt, updatedAt: createdAt },
      ],
    });
    const versions = await call('GET', `${path}?fields=version,updatedAt`, { token: ada.token });
    expect(versions.body).toMatchObject({
      data: [
        { version: 1, updatedAt: createdAt },
        { version: 1, updatedAt: createdAt },
      ],
    });
    expect(items.headers.get('link')).toBe(`<${path}>; rel="first", <${path}>; rel="last"`);
    const wrong = await call('POST', `/${version}/orders`, { token: ada.token, body: { items: [{ productId: first }] } });
    expect([wrong.status, wrong.body]).toMatchObject([400, { error: { details: [{ field: 'items' }] } }]);
  });

  it('places an order that costs nothing as paid, with a paid invoice and no payment', async () => {
    const product = { name: 'Sample', category: 'parts', price: 0, currency: 'EUR', stock: 9 };
    const { id: productId } = (await call('POST', '/v1/products', { token: admin.token, body: product })).body;
    const placed = await call('POST', '/v1/orders', { token: ada.token, body: { productId: Number(productId), qty: 2 } });
    expect([placed.status, placed.body]).toMatchObject([201, { status: 'paid', total: 0 }]);
    const path = `/v1/orders/${placed.body.id}`;
    expect((await call('GET', `${path}/invoice`, { token: ada.token })).body).toMatchObject({ total: 0, isPaid: true });
    const pay = { amount: 1, currency: 'EUR', customerId: ada.id, orderId: placed.body.id };
    const headers = { 'idempotency-key': 'free-order' };
    expect((await stack.call('POST', '/v1/payments', { token: ada.token, headers, body: pay })).status).toBe(422);
    expect((await call('POST', `${path}/cancel`, { token: ada.token })).body).toMatchObject({ status: 'cancelled' });
  });

  it('answers 400 to both productId and items, and POST /users accepts age', async () => {
    const both = await call('POST', '/v1/orders', { token: ada.token, body: { productId: 1, qty: 1, items: [{ productId: 1, qty: 1 }] } });
    expect([both.status, both.body]).toMatchObject([400, { error: { code: 'VALIDATION_ERROR' } }]);
    const body = { email: 'aged@example.org', name: 'Aged', password: 'long-enough-now', age: 40 };
    expect((await call('POST', '/v1/users', { body })).body).toMatchObject({ age: 40 });
    expect((await call('POST', '/v1/users', { body: { ...body, age: 151 } })).status).toBe(400);
  });
});

describe('the routes of payments and invoices', () => {
  // Spec §2.6: amount is an integer, currency and customerId are strings.
  it.each([
    ['amount', '700'],
    ['currency', 978],
    ['customerId', 5],
    ['customerId', true],
    ['orderId', 5],
  ])('answer 400 to a payment whose %s is %p', async (field, value) => {
    const body = { amount: 700, currency: 'EUR', customerId: ada.id, [field]: value };
    const paid = await stack.call('POST', '/v1/payments', { token: ada.token, headers: { 'idempotency-key': 'types' }, body });
    expect([paid.status, paid.body]).toMatchObject([400, { error: { code: 'VALIDATION_ERROR', details: [{ field }] } }]);
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
});
