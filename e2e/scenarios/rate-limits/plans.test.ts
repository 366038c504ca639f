/** The plan of an account, which gives it a limit of its own (spec §7.1). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';
import { LIMITS, send } from './clients.ts';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

describe('the plan of an account', () => {
  let admin: Account;
  let bridge: RunningProcess;
  beforeAll(async () => {
    admin = await stack.createAccount('Root', 'ADMIN');
    bridge = await stack.startBridge(LIMITS);
  });
  const change = (id: string, body: object, headers: Record<string, string> = {}) =>
    stack.call('PATCH', `/v1/users/${id}?fields=plan,requestsPerMinute`, { token: admin.token, body, headers });
  /** The limit that the account has with a token that is issued now. */
  const limitOf = async (name: string) => {
    const body = { email: `${name.toLowerCase()}@example.org`, password: `${name}-passes-1` };
    const { accessToken } = (await stack.call('POST', '/v1/auth/login', { body })).body as { accessToken: string };
    const reply = await send(bridge, '/v1/products?limit=1', { from: '203.0.113.1', headers: { authorization: `Bearer ${accessToken}` } });
    return reply.read('x-ratelimit-limit');
  };

  it('is changed by an administrator, with the next access token', async () => {
    const { id } = await stack.createAccount('Carol');
    expect(await limitOf('Carol')).toBe('5');
    expect((await change(id, { plan: 'pro' })).body).toEqual({ plan: 'pro', requestsPerMinute: null });
    expect(await limitOf('Carol')).toBe('1000000');
    expect((await change(id, { plan: 'enterprise' })).body).toEqual({ plan: 'enterprise', requestsPerMinute: null });
    // As many as with the plan pro.
    expect(await limitOf('Carol')).toBe('1000000');
    expect((await change(id, { requestsPerMinute: 77 })).body).toEqual({ plan: 'enterprise', requestsPerMinute: 77 });
    expect(await limitOf('Carol')).toBe('77');
    expect((await change(id, { plan: 'free' })).body).toEqual({ plan: 'free', requestsPerMinute: null });
    expect(await limitOf('Carol')).toBe('5');
    const events = await stack.sql<{ detail: string }>(
      'users',
      `SELECT "actorId", detail FROM security_events WHERE "userId" = $1 AND type = 'PLAN_CHANGED' ORDER BY "createdAt", id`,
      [id],
    );
    expect(events.map(({ detail }) => detail)).toEqual([
      'free to pro',
      'pro to enterprise',
      'enterprise to enterprise (77 per minute)',
      'enterprise (77 per minute) to free',
    ]);
    expect(events).toEqual(events.map(({ detail }) => ({ actorId: admin.id, detail })));
  });

  it('is refused with an unknown plan, a number that the plan does not have, and a stale ETag; then nothing changes', async () => {
    const { id } = await stack.createAccount('Dora');
    for (const body of [{ plan: 'gold' }, { plan: null }, { requestsPerMinute: 5 }, { plan: 'enterprise', requestsPerMinute: 0 }])
      expect([body, (await change(id, body)).status]).toEqual([body, 400]);
    const etag = (await stack.call('GET', `/v1/users/${id}`, { token: admin.token })).headers.get('etag') ?? '';
    await change(id, { name: 'Theodora' });
    expect((await change(id, { plan: 'pro' }, { 'if-match': etag })).status).toBe(412);
    expect((await stack.call('GET', `/v1/users/${id}?fields=plan`, { token: admin.token })).body).toEqual({ plan: 'free' });
  });

  it('is seen by the account itself and by administrators, and changed by administrators only', async () => {
    const { id, token } = await stack.createAccount('Erin');
    expect((await stack.call('GET', `/v1/users/${id}?fields=plan`, { token })).body).toEqual({ plan: 'free' });
    expect((await stack.graphql('{ me { plan requestsPerMinute } }', { token })).data).toEqual({
      me: { plan: 'FREE', requestsPerMinute: null },
    });
    for (const other of [ada.token, undefined]) {
      const { body } = await stack.call('GET', `/v1/users/${id}?fields=id,plan`, { token: other });
      const code = other === undefined ? 'UNAUTHORIZED' : 'FORBIDDEN';
      expect(body).toMatchObject({ id, plan: null, _errors: [{ field: 'plan', code }] });
    }
    for (const body of [{ plan: 'enterprise' }, { requestsPerMinute: 1000 }])
      expect((await stack.call('PATCH', `/v1/users/${id}`, { token, body })).status).toBe(403);
    expect((await stack.call('GET', `/v1/users/${id}`, { token: admin.token })).body).not.toHaveProperty('plan');
  });
});
