/** One account by REST, from its making to its end (spec §4.1, §4.2, §7; contract §4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let bob: Account;
let admin: Account;

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  bob = await stack.createAccount('Bob');
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => stack.stop());

interface ErrorBody {
  error: { code: string; message: string; requestId: string; details?: { field: string; message: string }[] };
}

describe('POST /users', () => {
  it('answers 201 with Location and the representation, including the own e-mail address', async () => {
    const { status, headers, body } = await stack.call('POST', '/v1/users', {
      body: { email: 'Eve@Example.org', name: 'Eve', password: 'long enough now' },
    });
    const user = body as Record<string, string>;
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/users/${user['id'] ?? ''}`);
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(user).toMatchObject({ email: 'Eve@Example.org', name: 'Eve', role: 'user', bio: null });
    expect(user['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(user['id']).toMatch(/^usr_/);
  });

  it('answers 409 for an existing e-mail address in any case', async () => {
    const { status, body } = await stack.call('POST', '/v1/users', {
      body: { email: 'ADA@example.org', name: 'Other', password: 'long enough now' },
    });
    expect(status).toBe(409);
    expect((body as ErrorBody).error.code).toBe('CONFLICT');
  });

  it('answers 400 with all missing, unknown and mistyped fields', async () => {
    const { status, body } = await stack.call('POST', '/v1/users', { body: { name: 7, nick: 'x', bio: true } });
    expect(status).toBe(400);
    const { code, details, requestId } = (body as ErrorBody).error;
    expect(code).toBe('VALIDATION_ERROR');
    expect(details?.map(({ field }) => field).sort()).toEqual(['bio', 'email', 'name', 'nick', 'password']);
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers 400 with values beyond their limits beside mistyped ones', async () => {
    const user = { email: 'x', name: 7, password: 'short', age: 200 };
    const { body } = await stack.call('POST', '/v1/users', { body: user });
    expect((body as ErrorBody).error.details?.map(({ field }) => field).sort()).toEqual(['age', 'email', 'name', 'password']);
    const reset = await stack.call('POST', '/v1/auth/password-reset/confirm', { body: { token: 7, password: 'short' } });
    expect((reset.body as ErrorBody).error.details?.map(({ field }) => field).sort()).toEqual(['password', 'token']);
  });

  it('answers 400 with details for values that violate a rule', async () => {
    const { status, body } = await stack.call('POST', '/v1/users', { body: { email: 'no address', name: ' ', password: 'short' } });
    expect(status).toBe(400);
    expect((body as ErrorBody).error.details?.map(({ field }) => field)).toEqual(['email', 'name', 'password']);
  });

  it.each([
    ['malformed JSON', '{"email":', {}, 400, 'VALIDATION_ERROR'],
    ['a body that is no object', '[1]', {}, 400, 'VALIDATION_ERROR'],
    [
      'a character that no database can store',
      '{"email":"a@b.cd","name":"a\\u0000","password":"long enough"}',
      {},
      400,
      'VALIDATION_ERROR',
    ],
    ['XML', '<user/>', { 'content-type': 'application/xml' }, 415, 'UNSUPPORTED_MEDIA_TYPE'],
    ['more than 1 MiB', JSON.stringify({ name: 'x'.repeat(1024 * 1024) }), {}, 413, 'PAYLOAD_TOO_LARGE'],
  ])('answers %s with the right status and code', async (_, body, headers, status, code) => {
    const reply = await stack.call('POST', '/v1/users', { body, headers });
    expect(reply.status).toBe(status);
    expect((reply.body as ErrorBody).error.code).toBe(code);
  });
});

describe('GET /users/{id}', () => {
  it('masks the e-mail address and lists it in _masked, except for the owner and administrators', async () => {
    const other = await stack.call('GET', `/v1/users/${ada.id}`, { token: bob.token });
    expect(other.body).toMatchObject({ email: '***@masked.invalid', _masked: ['email'] });
    for (const { token } of [ada, admin]) {
      const { body } = await stack.call('GET', `/v1/users/${ada.id}`, { token });
      expect(body).toMatchObject({ email: 'ada@example.org' });
      expect(body).not.toHaveProperty('_masked');
    }
  });

  it('returns exactly the requested fields and inclusions', async () => {
    const { body } = await stack.call('GET', `/v1/users/${ada.id}?fields=id,name&include=posts`);
    expect(body).toEqual({ id: ada.id, name: 'Ada', posts: [] });
  });

  it('answers 304 without a body to If-None-Match with its ETag, in any version of the path', async () => {
    const first = await stack.call('GET', `/v1/users/${bob.id}`);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"v\d+-[\w-]+"$/);
    for (const path of ['/v1', '/api/v1', '']) {
      const second = await stack.call('GET', `${path}/users/${bob.id}`, { headers: { 'if-none-match': `"other", W/${etag}` } });
      expect([second.status, second.text, second.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect(first.headers.get('cache-control')).toContain('public');
  });

  it('sends Cache-Control: private to a caller with a credential', async () => {
    const { headers } = await stack.call('GET', `/v1/users/${bob.id}`, { token: bob.token });
    expect(headers.get('cache-control')).toMatch(/private/);
    expect(headers.get('vary')).toMatch(/Authorization/);
  });

  it('answers 404 for an unknown id and for an unknown path', async () => {
    for (const path of ['/v1/users/usr_00000000000000000000000000', '/v1/nothing']) {
      const { status, body } = await stack.call('GET', path);
      expect([status, (body as ErrorBody).error.code]).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('answers 400 with all unknown parameters, fields and inclusions', async () => {
    const { status, body } = await stack.call('GET', `/v1/users/${ada.id}?fields=id,passwordHash&include=secrets&page=2`);
    expect(status).toBe(400);
    expect((body as ErrorBody).error.details?.map(({ field }) => field).sort()).toEqual(['fields', 'include', 'page']);
  });

  it('answers HEAD like GET without a body, OPTIONS with Allow, and another method with 405', async () => {
    const head = await stack.call('HEAD', `/v1/users/${ada.id}`);
    expect([head.status, head.text]).toEqual([200, '']);
    const options = await stack.call('OPTIONS', `/v1/users/${ada.id}`);
    expect([options.status, options.headers.get('allow')]).toEqual([200, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS']);
    const post = await stack.call('POST', `/v1/users/${ada.id}`, { body: {} });
    expect([post.status, post.headers.get('allow')]).toEqual([405, 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS']);
  });

  it('echoes an X-Request-ID that is a UUID and replaces any other', async () => {
    const id = '0d3a2a4c-5a77-4e0c-9f5e-1f0d6a7d2b11';
    const sent = await stack.call('GET', `/v1/users/none`, { headers: { 'x-request-id': id } });
    expect(sent.headers.get('x-request-id')).toBe(id);
    expect((sent.body as ErrorBody).error.requestId).toBe(id);
    const odd = await stack.call('GET', `/v1/users/none`, { headers: { 'x-request-id': 'x' } });
    expect(odd.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('PATCH, PUT and DELETE /users/{id}', () => {
  it('changes only the fields that PATCH sends, and clears those that are null', async () => {
    await stack.call('PATCH', `/v1/users/${ada.id}`, { token: ada.token, body: { bio: 'Bridges', age: 36 } });
    const { status, body } = await stack.call('PATCH', `/v1/users/${ada.id}`, { token: ada.token, body: { bio: null } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ name: 'Ada', bio: null, age: 36 });
  });

  it('replaces the account with PUT: clears omitted fields and ignores read-only ones', async () => {
    const { body } = await stack.call('GET', `/v1/users/${ada.id}`, { token: ada.token });
    const { age, bio, ...whole } = body as Record<string, unknown>;
    expect([age, bio]).toEqual([36, null]);
    const reply = await stack.call('PUT', `/v1/users/${ada.id}`, { token: ada.token, body: { ...whole, name: 'Ada L.' } });
    expect(reply.status).toBe(200);
    expect(reply.body).toMatchObject({ name: 'Ada L.', age: null, role: 'user' });
    const missing = await stack.call('PUT', `/v1/users/${ada.id}`, { token: ada.token, body: { name: 'Ada' } });
    expect((missing.body as ErrorBody).error.details).toEqual([{ field: 'email', message: 'is required' }]);
  });

  it('answers 400 to a PUT of a masked e-mail address, and keeps the address', async () => {
    const created = await stack.call('POST', '/v1/api-keys', { token: admin.token, body: { name: 'Writes', scopes: ['users:write'] } });
    const headers = { 'x-api-key': (created.body as { secret: string }).secret };
    const { body } = await stack.call('GET', `/v1/users/${bob.id}`, { headers });
    const { status, body: refused } = await stack.call('PUT', `/v1/users/${bob.id}`, { headers, body: { ...(body as object), name: 'B' } });
    expect([status, (refused as ErrorBody).error.details]).toEqual([
      400,
      [{ field: 'email', message: 'must not be the mask of a hidden address' }],
    ]);
    const kept = await stack.call('GET', `/v1/users/${bob.id}`, { token: bob.token });
    expect(kept.body).toMatchObject({ name: 'Bob', email: 'bob@example.org' });
  });

  it('answers 412 when If-Match is stale, also with a tag of ?fields=, and changes nothing', async () => {
    const { headers } = await stack.call('GET', `/v1/users/${bob.id}?fields=name`);
    const etag = headers.get('etag') ?? '';
    const write = (name: string) =>
      stack.call('PATCH', `/v1/users/${bob.id}`, { token: bob.token, body: { name }, headers: { 'if-match': etag } });
    expect((await write('Bob 2')).status).toBe(200);
    const stale = await write('Bob 3');
    expect([stale.status, (stale.body as ErrorBody).error.code]).toEqual([412, 'PRECONDITION_FAILED']);
    expect((await stack.call('GET', `/v1/users/${bob.id}?fields=name`)).body).toEqual({ name: 'Bob 2' });
  });

  it('applies exactly one of twenty concurrent writes with the same If-Match', async () => {
    const { headers } = await stack.call('GET', `/v1/users/${bob.id}`);
    const tag = { 'if-match': headers.get('etag') ?? '' };
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        stack.call('PATCH', `/v1/users/${bob.id}`, { token: bob.token, body: { bio: `take ${String(i)}` }, headers: tag }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(19).fill(412)]);
  });

  it('answers 401 to anonymous callers, and 403 to other accounts and to a change of the own role', async () => {
    const body = { name: 'Mallory' };
    const anonymous = await stack.call('PATCH', `/v1/users/${ada.id}`, { body });
    expect([anonymous.status, anonymous.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="api"']);
    expect((await stack.call('PATCH', `/v1/users/${ada.id}`, { token: bob.token, body })).status).toBe(403);
    expect((await stack.call('PATCH', `/v1/users/${bob.id}`, { token: bob.token, body: { role: 'admin' } })).status).toBe(403);
    expect((await stack.call('DELETE', `/v1/users/${ada.id}`, { token: bob.token })).status).toBe(403);
  });

  it('answers 204 to DELETE, then 404 to a second DELETE and 410 to GET', async () => {
    const { id, token } = await stack.createAccount('Gone');
    expect((await stack.call('DELETE', `/v1/users/${id}`, { token })).status).toBe(204);
    expect((await stack.call('DELETE', `/v1/users/${id}`, { token: admin.token })).status).toBe(404);
    const { status, body } = await stack.call('GET', `/v1/users/${id}`);
    expect([status, (body as ErrorBody).error.code]).toEqual([410, 'GONE']);
  });
});
