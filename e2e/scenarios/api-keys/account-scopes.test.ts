/** What credentials with few scopes do to accounts, by REST and GraphQL (spec §5.5, §5.7). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Scope } from '@trestle/identity/scopes';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let admin: Account;
let ada: Account;

beforeAll(async () => {
  stack = await leaseStack();
  [admin, ada] = [await stack.createAccount('Root', 'ADMIN'), await stack.createAccount('Ada')];
});
afterAll(() => stack.stop());

/** Returns the header with a new key that has these scopes. */
async function keyOf(account: Account, ...scopes: Scope[]): Promise<{ 'x-api-key': string }> {
  const { body } = await stack.call('POST', '/v1/api-keys', { token: account.token, body: { name: 'Tests', scopes } });
  return { 'x-api-key': (body as { secret: string }).secret };
}

type Headers = Readonly<Record<string, string>>;

async function ask(headers: Headers, query: string) {
  const { body } = await request(`${stack.gateway}/graphql`, { method: 'POST', headers, body: { query } });
  return body as { data: unknown; errors?: { extensions: object }[] };
}

const LACKS = 'Bearer realm="api", error="insufficient_scope", scope="account:manage"';
const NEW_ID = 'usr_01m7ybgss0q5s8v2x6a9d3g7jp';
const readAccounts = () => stack.sql('users', 'SELECT * FROM users ORDER BY id');

describe('an administrator’s key with users:write', () => {
  it.each([
    [{ email: 'taken@example.org' }],
    [{ role: 'admin' }],
    [{ isActive: false }],
    [{ plan: 'pro' }],
    [{ plan: 'enterprise', requestsPerMinute: 5 }],
  ])('gets 403 with scope="account:manage" for PATCH /users/{id} with %j', async (body) => {
    const headers = await keyOf(admin, 'users:write');
    const before = await readAccounts();
    const reply = await stack.call('PATCH', `/v1/users/${ada.id}`, { headers, body });
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, LACKS]);
    expect(await readAccounts()).toEqual(before);
  });

  it('gets 403 with scope="account:manage" for PUT /users/{id} of an account that does not exist', async () => {
    const headers = await keyOf(admin, 'users:write');
    const body = { email: 'new@example.org', name: 'New', password: 'A-long-passw0rd', role: 'admin' };
    const reply = await stack.call('PUT', `/v1/users/${NEW_ID}`, { headers, body });
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, LACKS]);
  });

  it('gets FORBIDDEN with requiredScopes from updateUser, and changes names of other accounts', async () => {
    const headers = await keyOf(admin, 'users:write');
    const { errors } = await ask(headers, `mutation { updateUser(id: "${ada.id}", input: { role: ADMIN }) { id } }`);
    const extensions = { code: 'FORBIDDEN', reason: 'insufficient_scope', requiredScopes: ['account:manage'] };
    expect(errors).toMatchObject([{ extensions }]);
    const renamed = await stack.call('PATCH', `/v1/users/${ada.id}`, { headers, body: { name: 'Ada L.' } });
    expect([renamed.status, renamed.body]).toMatchObject([200, { name: 'Ada L.' }]);
  });

  it('gets 403 with the scope account:manage for DELETE /users/{id}', async () => {
    const reply = await stack.call('DELETE', `/v1/users/${ada.id}`, { headers: await keyOf(admin, 'users:write') });
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([403, LACKS.replace('account', 'users:write account')]);
  });
});

describe('a key with users:write and account:manage', () => {
  it('changes roles and creates accounts for an administrator', async () => {
    const headers = await keyOf(admin, 'users:write', 'account:manage');
    const { id } = await stack.createAccount('Carol');
    const promoted = await stack.call('PATCH', `/v1/users/${id}`, { headers, body: { role: 'moderator' } });
    expect([promoted.status, promoted.body]).toMatchObject([200, { role: 'moderator' }]);
    const body = { email: 'new@example.org', name: 'New', password: 'A-long-passw0rd' };
    expect((await stack.call('PUT', `/v1/users/${NEW_ID}`, { headers, body })).status).toBe(201);
  });

  it('deletes the own account, which each of the scopes alone does not', async () => {
    const bob = await stack.createAccount('Bob');
    for (const scope of ['users:write', 'account:manage'] as const) {
      const headers = await keyOf(bob, scope);
      expect((await stack.call('DELETE', `/v1/users/${bob.id}`, { headers })).status).toBe(403);
    }
    const headers = await keyOf(bob, 'users:write', 'account:manage');
    expect((await stack.call('DELETE', `/v1/users/${bob.id}`, { headers })).status).toBe(204);
  });
});

describe('a key without account:manage', () => {
  it('reads the job at Location of a password reset that it asked for', async () => {
    const headers = await keyOf(ada, 'posts:read');
    const reply = await stack.call('POST', `/v1/users/${ada.id}/password-reset`, { headers });
    const job = await stack.call('GET', reply.headers.get('location') ?? '', { headers });
    expect([reply.status, job.status]).toEqual([202, 200]);
  });

  it('gets 422 for POST /auth/logout, since it has no session', async () => {
    const headers = await keyOf(ada, 'posts:read');
    const reply = await stack.call('POST', '/v1/auth/logout', { headers });
    expect([reply.status, reply.body]).toMatchObject([422, { error: { code: 'BUSINESS_RULE_VIOLATION' } }]);
    expect((await stack.call('GET', '/v1/users/me', { headers })).status).toBe(307);
  });
});

describe('a key without users:read', () => {
  it('gets insufficient_scope for the plan and the masked address of its own account', async () => {
    const { data, errors } = await ask(await keyOf(ada, 'orders:read'), '{ me { plan email } }');
    expect(data).toEqual({ me: { plan: null, email: '***@masked.invalid' } });
    const lacked = { code: 'FORBIDDEN', reason: 'insufficient_scope', requiredScopes: ['users:read'] };
    expect(errors).toMatchObject([{ extensions: lacked }, { extensions: { ...lacked, masked: true, coordinate: 'User.email' } }]);
  });
});

describe('POST /orders by a key with orders:write', () => {
  const order = async (conditions: Headers) => {
    const product = { name: 'Lamp', category: 'lamps', price: 500, currency: 'EUR', stock: 3 };
    const { body } = await stack.call('POST', '/v1/products', { token: admin.token, body: product });
    const headers = { ...(await keyOf(ada, 'orders:write')), ...conditions };
    return stack.call('POST', '/v1/orders', { headers, body: { productId: (body as { id: number }).id, qty: 1 } });
  };

  it('is 412 with If-None-Match: *, and 201 with If-Match: *, though the key cannot read the list', async () => {
    expect((await order({ 'if-none-match': '*' })).status).toBe(412);
    expect((await order({ 'if-match': '*' })).status).toBe(201);
  });

  it('is 403 with the scope of the list when If-Match has a tag', async () => {
    const { status, headers, body } = await order({ 'if-match': '"x"' });
    expect([status, headers.get('www-authenticate')]).toEqual([403, LACKS.replace('account:manage', 'orders:read')]);
    expect((body as { error: { message: string } }).error.message).toMatch(/GET \/orders/);
  });
});

describe('POST /channels/{id}/messages by a key with messages:write', () => {
  it('is 400 for a faulty body, though the key cannot read the list', async () => {
    await stack.sql('content', `INSERT INTO channels (id, name) VALUES ('chn_0123456789abcdefghjkmnpqrs', 'scopes')`);
    const headers = await keyOf(ada, 'messages:write');
    const path = '/v1/channels/chn_0123456789abcdefghjkmnpqrs/messages';
    expect((await stack.call('POST', path, { headers, body: {} })).status).toBe(400);
  });
});
