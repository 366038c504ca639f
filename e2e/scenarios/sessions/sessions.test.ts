/** The list of sessions, their end, and the audit trail (spec §5, ADR 19). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';
import { logIn, refresh } from './browser.ts';

let stack: LeasedStack;
let admin: Account;
const ada = { email: 'ada@example.org', password: 'Ada-passes-1' };
const bob = { email: 'bob@example.org', password: 'Bob-passes-1' };
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

beforeAll(async () => {
  stack = await leaseStack();
  await stack.createAccount('Ada');
  await stack.createAccount('Bob');
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => stack.stop());

interface SessionBody {
  readonly id: string;
  readonly device: string;
  readonly isCurrent: boolean;
}
const listOf = async (token: string) => ((await stack.call('GET', '/v1/sessions', { token })).body as { data: SessionBody[] }).data;

describe('GET /v1/sessions', () => {
  it('lists the sessions of the caller only, with device, truncated address and times, newest first', async () => {
    await logIn(stack.rest, bob);
    await logIn(stack.rest, ada, 'curl/8.14.1');
    const { token } = await logIn(stack.rest, ada, FIREFOX);
    const sessions = await listOf(token);
    expect(sessions).toHaveLength(2);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const id = expect.stringMatching(/^ses_[0-9a-z]{26}$/);
    const common = { id, address: '127.0.0.0/24', createdAt: time, lastUsedAt: time, expiresAt: time };
    expect(sessions).toEqual(
      expect.arrayContaining([
        { ...common, device: 'Firefox on Linux', isCurrent: true },
        { ...common, device: 'curl', isCurrent: false },
      ]),
    );
    const { data } = await stack.graphql('{ sessions(first: 1) { totalCount edges { node { device } } } }', { token });
    expect(data).toMatchObject({ sessions: { totalCount: 2 } });
    expect((await stack.call('GET', '/v1/sessions')).status).toBe(401);
  });
});

describe('DELETE /v1/sessions/{id}', () => {
  it('ends one session: its cookie, and its access tokens on every process at once', async () => {
    const [own, other] = [await logIn(stack.rest, ada), await logIn(stack.rest, ada)];
    const { id } = (await listOf(other.token)).find(({ isCurrent }) => isCurrent) as SessionBody;
    expect((await stack.call('DELETE', `/v1/sessions/${id}`, { token: own.token })).status).toBe(204);
    for (const url of [stack.gateway, ...Object.values(stack.subgraphs).map(({ url: each }) => each)]) {
      const { status } = await fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${other.token}` },
        body: '{"query":"{ __typename }"}',
      });
      expect([url, status]).toEqual([url, 401]);
    }
    expect((await refresh(stack.rest, other.cookie)).status).toBe(401);
    expect((await listOf(own.token)).map((session) => session.id)).not.toContain(id);
    expect((await stack.call('DELETE', `/v1/sessions/${id}`, { token: own.token })).status).toBe(404);
    expect((await refresh(stack.rest, own.cookie)).status).toBe(200);
  });

  it('answers 404 for the session of another account, which goes on', async () => {
    const [mine, theirs] = [await logIn(stack.rest, ada), await logIn(stack.rest, bob)];
    const { id } = (await listOf(theirs.token)).find(({ isCurrent }) => isCurrent) as SessionBody;
    expect((await stack.call('DELETE', `/v1/sessions/${id}`, { token: mine.token })).status).toBe(404);
    const { errors } = await stack.graphql('mutation($id: ID!) { endSession(id: $id) }', { token: admin.token, variables: { id } });
    expect(errors[0]?.extensions['code']).toBe('NOT_FOUND');
    expect((await refresh(stack.rest, theirs.cookie)).status).toBe(200);
  });
});

describe('the audit trail', () => {
  it('lists logins, failures and ends of sessions to administrators, without addresses of people', async () => {
    const { token } = await logIn(stack.rest, bob, FIREFOX);
    await stack.call('POST', '/v1/auth/login', { body: { ...bob, password: 'not the password' } });
    await stack.call('POST', '/v1/auth/login', { body: { email: 'nobody@example.org', password: 'not the password' } });
    await stack.call('POST', '/v1/auth/logout', { token });
    const { status, body, text } = await stack.call('GET', '/v1/security-events?limit=100', { token: admin.token });
    expect(status).toBe(200);
    const { data } = body as { data: { type: string; device: string | null; userId: string | null }[] };
    const types = data.map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['login_succeeded', 'login_failed', 'session_ended']));
    expect(data.some(({ type, userId }) => type === 'login_failed' && userId === null)).toBe(true);
    for (const secret of ['@example.org', 'not the password', token]) expect(text).not.toContain(secret);
    const filtered = await stack.call('GET', '/v1/security-events?type=login_failed', { token: admin.token });
    expect((filtered.body as { data: { type: string }[] }).data.every(({ type }) => type === 'login_failed')).toBe(true);
  });

  it('records a change of role with the administrator who made it', async () => {
    const carol = await stack.createAccount('Carol');
    await stack.call('PATCH', `/v1/users/${carol.id}`, { token: admin.token, body: { role: 'moderator', isActive: false } });
    const { data } = await stack.graphql<{ securityEvents: { edges: { node: object }[] } }>(
      'query($id: ID!) { securityEvents(filter: { userId: $id }) { edges { node { type actorId detail } } } }',
      { token: admin.token, variables: { id: carol.id } },
    );
    expect(data?.securityEvents.edges.map(({ node }) => node)).toEqual(
      expect.arrayContaining([
        { type: 'ROLE_CHANGED', actorId: admin.id, detail: 'USER to MODERATOR' },
        { type: 'ACTIVITY_CHANGED', actorId: admin.id, detail: 'active to inactive' },
      ]),
    );
  });

  it('records the creation, the use, the rotation and the revocation of an API key, without the key', async () => {
    const { token } = await logIn(stack.rest, bob);
    const made = await stack.call('POST', '/v1/api-keys', { token, body: { name: 'Export' } });
    const { secret, apiKey } = made.body as { secret: string; apiKey: { id: string } };
    for (let i = 0; i < 3; i++) await stack.call('GET', '/v1/orders', { headers: { 'x-api-key': secret } });
    const rotated = await stack.call('POST', `/v1/api-keys/${apiKey.id}/rotations`, { token, body: { overlapHours: 1 } });
    const next = (rotated.body as { apiKey: { id: string } }).apiKey.id;
    expect((await stack.call('DELETE', `/v1/api-keys/${apiKey.id}`, { token: admin.token })).status).toBe(204);
    const events = await stack.sql<{ type: string }>(
      'users',
      `SELECT type, "actorId", detail, address FROM security_events WHERE subject = $1 ORDER BY "createdAt", id`,
      [apiKey.id],
    );
    const common = { actorId: null, detail: null, address: '127.0.0.0/24' };
    expect(events).toEqual([
      { ...common, type: 'API_KEY_CREATED' },
      { ...common, type: 'API_KEY_USED' },
      { ...common, type: 'API_KEY_ROTATED', detail: `replaced by ${next} after 1 h` },
      { ...common, type: 'API_KEY_REVOKED', actorId: admin.id },
    ]);
    const { text } = await stack.call('GET', '/v1/security-events?limit=100', { token: admin.token });
    expect(text).not.toContain('trestle_live_');
  });

  it('records an account that an administrator creates by PUT, with its role', async () => {
    const id = `usr_${'0'.repeat(26)}`;
    const body = { email: 'dora@example.org', name: 'Dora', password: 'Dora-passes-1', role: 'admin' };
    expect((await stack.call('PUT', `/v1/users/${id}`, { token: admin.token, body })).status).toBe(201);
    const events = await stack.sql('users', 'SELECT type, "actorId", detail FROM security_events WHERE "userId" = $1', [id]);
    expect(events).toEqual([{ type: 'ACCOUNT_CREATED', actorId: admin.id, detail: 'ADMIN' }]);
  });

  it('is hidden from everybody else', async () => {
    const { token } = await logIn(stack.rest, ada);
    expect((await stack.call('GET', '/v1/security-events', { token })).status).toBe(403);
    expect((await stack.call('GET', '/v1/security-events')).status).toBe(401);
    expect((await stack.graphql('{ securityEvents { totalCount } }', { token })).errors[0]?.extensions['code']).toBe('FORBIDDEN');
  });

  it.each([`UPDATE security_events SET type = 'X'`, 'DELETE FROM security_events', 'TRUNCATE security_events'])(
    'cannot be changed by SQL: %s',
    async (statement) => {
      await expect(stack.sql('users', statement)).rejects.toThrow('never changed or deleted');
    },
  );
});
