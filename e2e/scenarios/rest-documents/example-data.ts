/** The rows that the examples of the OpenAPI documents show. */
import { until } from '../../stack/clients/client.ts';
import type { LeasedStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

const DELIVERY = 'dlv_0123456789abcdefghjkmnpqrs';

/** Creates a resource for each route that reads one. Returns an id for each collection. */
export async function createExampleData(stack: LeasedStack, admin: Account): Promise<Readonly<Record<string, string>>> {
  // The example of a search finds words in the account's text about itself.
  await stack.sql('users', `UPDATE users SET bio = 'Builds ropeways.' WHERE id = $1`, [admin.id]);
  // The list of sessions has one.
  await stack.call('POST', '/v1/auth/login', { body: { email: 'root@example.org', password: 'Root-passes-1' } });
  const make = async (path: string, body: object, headers: Record<string, string> = {}) =>
    String(((await stack.call('POST', path, { body, token: admin.token, headers })).body as { id: string | number }).id);
  const products = await make('/v1/products', { name: 'Rope', category: 'ropes', price: 100, currency: 'EUR', stock: 9 });
  const orders = await make('/v1/orders', { productId: Number(products), qty: 1 });
  const key = await stack.call('POST', '/v1/api-keys', { body: { name: 'Documents' }, token: admin.token });
  const webhook = await stack.call('POST', '/v1/webhooks', {
    body: { name: 'Documents', url: 'https://example.com/' },
    token: admin.token,
  });
  const webhookId = (webhook.body as { webhook: { id: string } }).webhook.id;
  await fillDeliveries(stack, webhookId);
  const payment = { amount: 100, currency: 'EUR', customerId: admin.id };
  const posts = await make('/v1/posts', { title: 'Bridges', body: 'bridge', status: 'published', tags: ['steel'] });
  await fillLists(stack, admin.id);
  await stack.sql('content', `INSERT INTO channels (id, name) VALUES ('chn_0123456789abcdefghjkmnpqrs', 'documents')`);
  await stack.sql(
    'content',
    `INSERT INTO videos (id, title, "ownerId", status) VALUES ('vid_0123456789abcdefghjkmnpqrs', 'Film', $1, 'PUBLISHED')`,
    [admin.id],
  );
  const ids = {
    users: admin.id,
    'api-keys': (key.body as { apiKey: { id: string } }).apiKey.id,
    jobs: 'job_0123456789abcdefghjkmnpqrp',
    webhooks: webhookId,
    deliveries: DELIVERY,
    posts,
    products,
    orders,
    payments: await make('/v1/payments', payment, { 'idempotency-key': 'documents' }),
    comments: await make(`/v1/posts/${posts}/comments`, { body: 'bridge' }),
    channels: 'chn_0123456789abcdefghjkmnpqrs',
    videos: 'vid_0123456789abcdefghjkmnpqrs',
    uploads: await make('/v1/uploads', { title: 'Film', size: 1000 }),
    messages: await make('/v1/channels/chn_0123456789abcdefghjkmnpqrs/messages', { body: 'Hello' }),
  };
  await until(async () => {
    const { body } = await stack.call('GET', '/v1/search?q=ropeways', { token: admin.token });
    return (body as { data: unknown[] }).data.length > 0;
  });
  return ids;
}

/** Adds a delivery with one attempt. */
async function fillDeliveries(stack: LeasedStack, webhookId: string): Promise<void> {
  const attempt = {
    ...{ startedAt: '2026-01-31T12:00:00.000Z', durationMs: 1, status: 204, error: null },
    ...{ requestHeaders: { 'webhook-id': 'evt_1' }, responseHeaders: { server: 'test' } },
  };
  await stack.sql(
    'users',
    `INSERT INTO webhook_deliveries (id, "webhookId", kind, status, "eventId", "eventType", audience, event, attempts, log, "completedAt", "createdAt")
     VALUES ($2, $1, 'EVENT', 'SUCCEEDED', 'evt_1', 'order.paid', 'OWNER', '{}', 1, $3, now(), now() + interval '1 hour')`,
    [webhookId, DELIVERY, JSON.stringify([attempt])],
  );
}

/** An example shows the items of a list, so each list needs one: a passkey and an authorization take a browser to make. */
async function fillLists(stack: LeasedStack, userId: string): Promise<void> {
  await stack.sql(
    'users',
    `INSERT INTO passkeys (id, "userId", name, "credentialId", "publicKey", counter) VALUES ('psk_documents', $1, 'Documents', 'documents', '', 0)`,
    [userId],
  );
  await stack.sql(
    'users',
    `INSERT INTO oauth_clients (id, "ownerId", name, "grantTypes", scopes) VALUES ('documents', $1, 'Documents', '{}', '{}')`,
    [userId],
  );
  await stack.sql(
    'users',
    `INSERT INTO jobs (id, kind, status, progress, input, "ownerId") VALUES ($2, 'RESET_PASSWORD', 'SUCCEEDED', 100, '{}', $1)`,
    [userId, 'job_0123456789abcdefghjkmnpqrp'],
  );
  const grant = { clientId: 'documents', openid: { scope: 'openid' } };
  await stack.sql(
    'users',
    `INSERT INTO oauth_records (kind, "keyHash", payload, "accountId", "grantId", "expiresAt")
     VALUES ('Grant', 'documents', $2, $1, 'documents', now() + interval '1 day')`,
    [userId, grant],
  );
}
