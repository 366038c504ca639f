/** API keys from their creation to their end, by REST and GraphQL, on every process (spec §5.2, contract §3). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApiKey, isApiKey } from '@trestle/identity/credentials/api-keys';
import { request, until } from '../../stack/clients/client.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { type Key, toKeyRequests } from './key-requests.ts';

let stack: Stack;
let ada: Account;
let bob: Account;
let admin: Account;

beforeAll(async () => {
  stack = await startStack();
  [ada, bob, admin] = [await stack.createAccount('Ada'), await stack.createAccount('Bob'), await stack.createAccount('Root', 'ADMIN')];
});
afterAll(() => stack.stop());

const { create, withKey, asks, asksGateway } = toKeyRequests(() => stack);
const codeOf = ({ body }: { body: unknown }) => (body as { error?: { code: string } }).error?.code;

describe('POST /v1/api-keys', () => {
  it('shows the secret once, and stores neither the secret nor its plain hash', async () => {
    const { secret, apiKey, reply, path } = await create(ada, { scopes: ['orders:read', 'users:read'] });
    expect(isApiKey(secret)).toBe(true);
    expect(apiKey).toMatchObject({ name: 'Export', lastFour: secret.slice(-4), scopes: ['orders:read', 'users:read'], lastUsedAt: null });
    expect([reply.headers.get('location'), reply.headers.get('cache-control')]).toEqual([path, 'no-store']);
    const shown = await stack.call('GET', path, { token: ada.token });
    expect([shown.status, shown.text.includes(secret)]).toEqual([200, false]);
    const [row] = await stack.sql<{ text: string }>('users', 'SELECT k::text AS text FROM api_keys k WHERE id = $1', [apiKey.id]);
    const [plain] = await stack.sql<{ hash: string }>('users', `SELECT encode(sha256($1::bytea), 'hex') AS hash`, [secret]);
    expect(row?.text).not.toContain(secret);
    expect(row?.text).not.toContain(plain?.hash);
  });

  it('answers 409 to a repeated Idempotency-Key, creates no other key, and stores no secret for a retry', async () => {
    const headers = { 'idempotency-key': 'same-key', accept: 'application/problem+json' };
    const send = (name: string) => stack.call('POST', '/v1/api-keys', { token: ada.token, body: { name }, headers });
    const replies = [await send('Alone'), await send('Alone'), await send('Other')];
    expect(replies.map(({ status }) => status)).toEqual([201, 409, 422]);
    expect(replies[1]?.body).toMatchObject({ code: 'CONFLICT', detail: expect.stringContaining('secret is not shown again') });
    expect(await stack.sql('users', `SELECT FROM api_keys WHERE "userId" = $1 AND name IN ('Alone', 'Other')`, [ada.id])).toHaveLength(1);
    const kept = await stack.sql<{ text: string }>('users', 'SELECT k::text AS text FROM idempotency_keys k');
    expect(kept.length).toBeGreaterThan(0);
    expect(JSON.stringify(kept)).not.toContain('trestle_live_');
  });

  it.each([
    [{ name: '' }, 'name'],
    [{ name: 1 }, 'name'],
    [{ name: 'x', scopes: ['everything'] }, 'scopes'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
    [{ name: 'x', isAllowedInUrl: 'yes' }, 'isAllowedInUrl'],
    [{ name: 'x', secret: createApiKey() }, 'secret'],
  ])('refuses %j and creates nothing', async (body, field) => {
    const before = await stack.sql('users', 'SELECT count(*) FROM api_keys');
    const reply = await stack.call('POST', '/v1/api-keys', { token: ada.token, body });
    expect(reply).toMatchObject({ status: 400, body: { error: { details: [expect.objectContaining({ field })] } } });
    expect(await stack.sql('users', 'SELECT count(*) FROM api_keys')).toEqual(before);
  });

  it('is refused to a key without account:manage, and gives a key of a key no more than that has', async () => {
    const plain = await create(ada);
    expect(plain.apiKey.scopes).not.toContain('account:manage');
    const denied = await stack.call('POST', '/v1/api-keys', { body: { name: 'x' }, ...withKey(plain.secret) });
    expect([denied.status, denied.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="api", error="insufficient_scope", scope="account:manage"',
    ]);
    const manager = await create(ada, { scopes: ['account:manage', 'orders:read'] });
    const send = (body: object) => stack.call('POST', '/v1/api-keys', { body, ...withKey(manager.secret) });
    expect((await send({ name: 'x', scopes: ['orders:write'] })).headers.get('www-authenticate')).toContain('scope="orders:write"');
    expect(((await send({ name: 'x' })).body as { apiKey: Key }).apiKey.scopes).toEqual(['orders:read']);
  });
});

describe('createApiKey', () => {
  it('creates one key for an Idempotency-Key: a repetition is CONFLICT, and other arguments are refused', async () => {
    const codes = async (name: string) => {
      const query = `mutation { createApiKey(input: { name: "${name}", scopes: ["orders:read"] }) { secret apiKey { id } } }`;
      const headers = { 'idempotency-key': 'made-once' };
      const { body } = await request(`${stack.gateway}/graphql`, { method: 'POST', token: admin.token, headers, body: { query } });
      return (body as { errors?: { extensions: { code: string } }[] }).errors?.map(({ extensions }) => extensions.code);
    };
    expect([await codes('Once'), await codes('Once'), await codes('Twice')]).toEqual([
      undefined,
      ['CONFLICT'],
      ['BUSINESS_RULE_VIOLATION'],
    ]);
    expect(await stack.sql('users', `SELECT FROM api_keys WHERE "userId" = $1 AND name IN ('Once', 'Twice')`, [admin.id])).toHaveLength(1);
  });
});

describe('an API key', () => {
  it('acts as its account at the bridge and the gateway, and notes its last use', async () => {
    const { secret, path } = await create(ada);
    expect([await asks(secret), await asksGateway(secret)]).toEqual([200, ada.id]);
    const shown = await stack.call('GET', path, { token: ada.token });
    expect(Date.parse((shown.body as Key).lastUsedAt ?? '')).toBeGreaterThan(Date.now() - 60_000);
  });

  it('is hidden from other accounts: in lookups, lists, node and changes', async () => {
    const { apiKey, path } = await create(ada);
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as const) {
      const reply = await stack.call(method, path, { token: bob.token, ...(body && { body }) });
      expect([method, reply.status, codeOf(reply)]).toEqual([method, 404, 'NOT_FOUND']);
    }
    expect((await stack.call('POST', `${path}/rotations`, { token: bob.token, body: {} })).status).toBe(404);
    const node = `{ node(id: "${apiKey.id}") { id } }`;
    expect((await stack.graphql(node, { token: bob.token })).data).toEqual({ node: null });
    expect((await stack.graphql(node)).data).toEqual({ node: null });
    expect((await stack.graphql(node, { token: ada.token })).data).toEqual({ node: { id: apiKey.id } });
    const listed = await stack.call('GET', '/v1/api-keys?limit=100', { token: bob.token });
    expect((listed.body as { data: Key[] }).data).toEqual([]);
    expect((await stack.call('GET', `/v1/api-keys?userId=${ada.id}`, { token: bob.token })).status).toBe(403);
    expect((await stack.call('DELETE', path, { token: ada.token })).status).toBe(204);
    const afterwards = [bob, ada, admin].map(({ token }) => stack.call('GET', path, { token }));
    expect((await Promise.all(afterwards)).map(({ status }) => status)).toEqual([404, 410, 410]);
  });

  it('is 410 for an administrator after the deletion of its account', async () => {
    const owner = await stack.createAccount('Owner');
    const { path } = await create(owner);
    expect((await stack.call('DELETE', `/v1/users/${owner.id}`, { token: owner.token })).status).toBe(204);
    expect((await stack.call('GET', path, { token: admin.token })).status).toBe(410);
    expect((await stack.call('GET', path, { token: bob.token })).status).toBe(404);
  });

  it('may be listed and revoked by an administrator, who can neither change nor rotate it', async () => {
    const { apiKey, secret, path } = await create(ada);
    const listed = await stack.call('GET', `/v1/api-keys?userId=${ada.id}&sort=-createdAt&limit=100`, { token: admin.token });
    expect((listed.body as { data: Key[] }).data.map(({ id }) => id)).toContain(apiKey.id);
    expect((await stack.call('PATCH', path, { token: admin.token, body: { name: 'x' } })).status).toBe(403);
    expect((await stack.call('POST', `${path}/rotations`, { token: admin.token, body: {} })).status).toBe(403);
    expect((await stack.call('DELETE', path, { token: admin.token })).status).toBe(204);
    expect(await asks(secret)).toBe(401);
  });

  it('is changed only with a current ETag in If-Match', async () => {
    const { path, reply } = await create(ada);
    const etag = reply.headers.get('etag') ?? '';
    const change = (name: string, tag: string) =>
      stack.call('PATCH', path, { token: ada.token, body: { name }, headers: { 'if-match': tag } });
    expect(await change('Second', etag)).toMatchObject({ status: 200, body: { name: 'Second' } });
    expect((await change('Third', etag)).status).toBe(412);
    expect((await stack.call('DELETE', path, { token: ada.token, headers: { 'if-match': etag } })).status).toBe(412);
    expect((await stack.call('PATCH', path, { token: ada.token, body: { scopes: ['users:read'] } })).status).toBe(400);
  });
});

describe('a revoked API key', () => {
  it('is refused by every process at once, with its tokens; its sockets are closed', async () => {
    const { secret, path } = await create(ada);
    const [gateway, bridge] = [await stack.startGateway(), await stack.startBridge()];
    const everywhere = async () => [
      await asks(secret),
      await asks(secret, bridge.url),
      await asksGateway(secret),
      await asksGateway(secret, gateway.url),
    ];
    expect(await everywhere()).toEqual([200, 200, ada.id, ada.id]);
    const socket = await openSocket(`${gateway.url}/graphql`, { init: { 'x-api-key': secret } });
    expect((await stack.call('DELETE', path, { token: ada.token })).status).toBe(204);
    expect(await everywhere()).toEqual([401, 401, undefined, undefined]);
    expect((await socket.closed).code).toBe(4403);
    expect([
      (await stack.call('GET', path, { token: ada.token })).status,
      (await stack.call('DELETE', path, { token: ada.token })).status,
    ]).toEqual([410, 404]);
    await Promise.all([gateway.end('SIGTERM'), bridge.end('SIGTERM')]);
  });

  it('stays usable after a change of role, with the new role', async () => {
    const eve = await stack.createAccount('Eve');
    const { secret } = await create(eve);
    expect(await asksGateway(secret)).toBe(eve.id);
    await stack.graphql(`mutation { updateUser(id: "${eve.id}", input: { role: MODERATOR }) { id } }`, { token: admin.token });
    const { body } = await request(`${stack.gateway}/graphql`, { method: 'POST', body: { query: '{ me { role } }' }, ...withKey(secret) });
    expect(body).toMatchObject({ data: { me: { role: 'MODERATOR' } } });
    await stack.graphql(`mutation { updateUser(id: "${eve.id}", input: { isActive: false }) { id } }`, { token: admin.token });
    expect(await asksGateway(secret)).toBeUndefined();
  });
});

describe('POST /v1/api-keys/{id}/rotations', () => {
  it('gives a new key beside the old one, once, and without an overlap ends the old one at once', async () => {
    const { secret, apiKey, path } = await create(ada, { scopes: ['orders:read'] });
    const rotated = await stack.call('POST', `${path}/rotations`, { token: ada.token, body: { overlapHours: 1 } });
    const { secret: next, apiKey: successor } = rotated.body as { secret: string; apiKey: Key };
    expect([rotated.status, rotated.headers.get('location'), successor.scopes]).toEqual([
      201,
      `/v1/api-keys/${successor.id}`,
      ['orders:read'],
    ]);
    expect([await asks(secret), await asks(next)]).toEqual([200, 200]);
    const old = (await stack.call('GET', path, { token: ada.token })).body as Key;
    expect(old.successorId).toBe(successor.id);
    expect(Date.parse(old.expiresAt ?? '')).toBeLessThanOrEqual(Date.now() + 3_600_000);
    expect((await stack.call('POST', `${path}/rotations`, { token: ada.token, body: {} })).status).toBe(422);
    const last = await stack.call('POST', `/v1/api-keys/${successor.id}/rotations`, { token: ada.token, body: { overlapHours: 0 } });
    expect(last.status).toBe(201);
    expect([await asks(next), await asks((last.body as { secret: string }).secret), apiKey.successorId]).toEqual([401, 200, null]);
  });

  it.each([1, 0])(
    'answers 409 to a repeated Idempotency-Key, and makes no other key, with an overlap of %d hours',
    async (overlapHours) => {
      const { path } = await create(ada, { name: `Rotated ${String(overlapHours)}` });
      const headers = { 'idempotency-key': 'rotated-once' };
      const rotate = async (body: object) => {
        const reply = await stack.call('POST', `${path}/rotations`, { token: ada.token, body, headers });
        return [reply.status, (reply.body as { error?: { code: string } }).error?.code];
      };
      expect(await rotate({ overlapHours })).toEqual([201, undefined]);
      expect(await rotate({ overlapHours })).toEqual([409, 'CONFLICT']);
      expect(await rotate({ overlapHours: 2 })).toEqual([422, 'BUSINESS_RULE_VIOLATION']);
      const keys = await stack.sql('users', `SELECT FROM api_keys WHERE "userId" = $1 AND name = $2`, [
        ada.id,
        `Rotated ${String(overlapHours)}`,
      ]);
      expect(keys).toHaveLength(overlapHours === 0 ? 1 : 2);
    },
  );

  it('and a revocation at the same time leave no key that was revoked', async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => create(bob)));
    await Promise.all(
      made.map(async ({ path, secret }) => {
        await Promise.all([
          stack.call('POST', `${path}/rotations`, { token: bob.token, body: {} }),
          stack.call('DELETE', path, { token: bob.token }),
        ]);
        expect(await asks(secret)).toBe(401);
      }),
    );
  });
});

describe('an API key in a URL', () => {
  it('is in no header, body or log line of any process', async () => {
    const { secret } = await create(ada, { isAllowedInUrl: true });
    const [bridge, gateway] = [await stack.startBridge(), await stack.startGateway()];
    const list = await request(`${bridge.url}/v1/users?limit=1&apiKey=${secret}`, { method: 'GET' });
    expect([list.status, list.headers.get('cache-control'), list.headers.get('referrer-policy')]).toEqual([200, 'no-store', 'no-referrer']);
    expect(list.headers.get('link')).toContain('limit=1');
    const replies = [
      list,
      await request(`${bridge.url}/v1/users/me?apiKey=${secret}`, { method: 'GET' }),
      await request(`${bridge.url}/v1/users/?apiKey=${secret}`, { method: 'GET' }),
      await request(`${bridge.url}/v1/nothing?apiKey=${secret}`, { method: 'GET' }),
      await request(`${bridge.url}/v1/users?unknown=1&apiKey=${secret}`, { method: 'GET' }),
      await request(`${bridge.url}/v1/posts?apiKey=${secret}`, { method: 'POST', body: { title: 'x' } }),
      await request(`${bridge.url}/.well-known/jwks.json?apiKey=${secret}`, { method: 'GET' }),
      await request(`${gateway.url}/graphql?query=%7Bme%7Bid%7D%7D&apiKey=${secret}`, { method: 'GET' }),
      await request(`${gateway.url}/graphql?query=%7B+nothing+%7D&apiKey=${secret}`, { method: 'GET' }),
      await request(`${gateway.url}/other?apiKey=${secret}`, { method: 'GET' }),
    ];
    expect(replies.map(({ status }) => status)).toEqual([200, 307, 301, 404, 400, 400, 200, 200, 400, 404]);
    for (const { text, headers } of replies) {
      expect(text + JSON.stringify([...headers])).not.toContain(secret);
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('cache-control')).toContain('no-store');
    }
    // Log lines are written in batches.
    await Promise.all([bridge.end('SIGTERM'), gateway.end('SIGTERM')]);
    const lines = [bridge, gateway, ...Object.values(stack.subgraphs)].flatMap((process) => process.lines).join('\n');
    expect(lines).toContain('"route":"/users/me"');
    expect(lines).not.toContain('trestle_live_');
  });
});

describe('while the users subgraph is away', () => {
  it('a key that is not known yet gets 503 with Retry-After, a known one and anonymous callers are served', async () => {
    const [known, unknown] = [await create(ada), await create(ada)];
    // Each process knows the keys that it has verified.
    for (const { bridge, gateway } of stack.nodes) {
      expect([await asks(known.secret, bridge.url), await asksGateway(known.secret, gateway.url)]).toEqual([200, ada.id]);
    }
    await stack.kill('users');
    for (const url of [`${stack.rest}/v1/products`, `${stack.gateway}/graphql?query=%7B__typename%7D`]) {
      const reply = await request(url, { method: 'GET', ...withKey(unknown.secret) });
      expect([reply.status, reply.headers.get('retry-after'), reply.headers.get('www-authenticate')]).toEqual([503, '1', null]);
      expect((await request(url, { method: 'GET', ...withKey(known.secret) })).status).toBe(200);
      expect((await request(url, { method: 'GET' })).status).toBe(200);
    }
    const socket = await openSocket(`${stack.gateway}/graphql`, { init: null });
    socket.send({ type: 'connection_init', payload: { 'x-api-key': unknown.secret } });
    expect((await socket.closed).code).toBe(1013);
    await stack.revive('users');
    await until(async () => (await asksGateway(unknown.secret)) === ada.id);
  });
});
