/** Changes of password and e-mail address (issue 13): they need the current password, and end every other access to the account. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';
import { codeOf, logIn, refresh } from '../sessions/browser.ts';

let stack: LeasedStack;
let admin: Account;
const ada = { email: 'ada@example.org', password: 'Ada-passes-1' };
let adaId: string;
let eve: Account;

beforeAll(async () => {
  stack = await leaseStack();
  ({ id: adaId } = await stack.createAccount('Ada'));
  eve = await stack.createAccount('Eve');
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => stack.stop());

const changePassword = (body: object, token?: string) => stack.call('POST', '/v1/auth/password', { body, token });
const statusOf = async (token: string) => (await stack.call('GET', '/v1/orders', { token })).status;
const detailsOf = (reply: { body: unknown }) => (reply.body as { error: { details?: { field: string; message: string }[] } }).error.details;

describe('POST /v1/auth/password', () => {
  it('sets the password, ends the other sessions with all tokens, and goes on with a new token and the same cookie', async () => {
    const [own, other] = [await logIn(stack.rest, ada), await logIn(stack.rest, ada)];
    const next = { email: ada.email, password: 'correct horse 9 battery' };
    const reply = await changePassword({ currentPassword: ada.password, newPassword: next.password }, own.token);
    expect([reply.status, reply.body]).toEqual([
      200,
      expect.objectContaining({ tokenType: 'Bearer', expiresIn: 900, user: expect.objectContaining({ email: ada.email }) }),
    ]);
    expect([await statusOf(own.token), await statusOf(other.token)]).toEqual([401, 401]);
    expect(await statusOf((reply.body as { accessToken: string }).accessToken)).toBe(200);
    expect((await refresh(stack.rest, other.cookie)).status).toBe(401);
    expect((await refresh(stack.rest, own.cookie)).status).toBe(200);
    await expect(logIn(stack.rest, ada)).rejects.toThrow('401');
    const { token } = await logIn(stack.rest, next);
    const back = await stack.graphql<{ changePassword: { token: string } }>(
      'mutation($a: String!, $b: String!) { changePassword(currentPassword: $a, newPassword: $b) { token } }',
      { token, variables: { a: next.password, b: ada.password } },
    );
    expect(await statusOf(back.data?.changePassword.token ?? '')).toBe(200);
    const events = await stack.sql('users', `SELECT type FROM security_events WHERE type = 'PASSWORD_CHANGED' AND "userId" = $1`, [adaId]);
    expect(events).toHaveLength(2);
  });

  it.each([
    ['short', 'must have 8 to 128 characters'],
    ['Password1234', 'is one of the most common passwords, which are guessed first'],
    [ada.email, 'must not be the e-mail address of the account'],
    [ada.password, 'must differ from the current password'],
  ])('answers 400 for the new password %j, and changes nothing', async (newPassword, message) => {
    const { token } = await logIn(stack.rest, ada);
    const reply = await changePassword({ currentPassword: ada.password, newPassword }, token);
    expect([reply.status, detailsOf(reply)]).toEqual([400, [{ field: 'newPassword', message }]]);
    expect(await statusOf(token)).toBe(200);
  });

  it('answers 401 without a credential, 400 for what is missing, and 403 without the scope', async () => {
    const body = { currentPassword: ada.password, newPassword: 'correct horse 9 battery' };
    expect((await changePassword(body)).status).toBe(401);
    const { token } = await logIn(stack.rest, ada);
    expect(detailsOf(await changePassword({ newPassword: 1, extra: 'x' }, token))).toEqual(
      expect.arrayContaining([
        { field: 'currentPassword', message: 'is required' },
        { field: 'extra', message: 'is unknown' },
        expect.objectContaining({ field: 'newPassword' }),
      ]),
    );
    const key = await stack.call('POST', '/v1/api-keys', { token, body: { name: 'No account:manage' } });
    const headers = { 'x-api-key': (key.body as { secret: string }).secret };
    const refused = await stack.call('POST', '/v1/auth/password', { body, headers });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([403, expect.stringContaining('account:manage')]);
  });

  it('checks ten wrong passwords at most when many come at once, which delays neither logins nor the other way round', async () => {
    const { token } = await logIn(stack.rest, ada);
    const body = { currentPassword: 'not the password', newPassword: 'correct horse 9 battery' };
    const replies = await Promise.all(Array.from({ length: 30 }, () => changePassword(body, token)));
    const statuses = replies.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([403, 429]));
    expect(statuses.filter((status) => status === 403).length).toBeLessThanOrEqual(12);
    await logIn(stack.rest, ada);
    await stack.sql('users', 'DELETE FROM failed_attempts');
  });

  it('lets one of several concurrent changes win', async () => {
    const { token } = await logIn(stack.rest, ada);
    const passwords = Array.from({ length: 4 }, (_, i) => `a new password ${String(i)}`);
    const replies = await Promise.all(
      passwords.map((newPassword) => changePassword({ currentPassword: ada.password, newPassword }, token)),
    );
    const won = replies.findIndex(({ status }) => status === 200);
    // The others find another password by now, or their token revoked.
    expect(replies.filter(({ status }, i) => i !== won && ![401, 403, 409].includes(status))).toEqual([]);
    const again = await logIn(stack.rest, { email: ada.email, password: passwords[won] ?? '' });
    expect((await changePassword({ currentPassword: passwords[won], newPassword: ada.password }, again.token)).status).toBe(200);
  });
});

describe('a new e-mail address', () => {
  const change = (id: string, body: object, token: string) => stack.call('PATCH', `/v1/users/${id}`, { body, token });
  const credentials = { email: 'eve@example.org', password: 'Eve-passes-1' };

  it('needs the current password of the account itself', async () => {
    const { token } = await logIn(stack.rest, credentials);
    const missing = await change(eve.id, { email: 'eve2@example.org' }, token);
    expect([missing.status, detailsOf(missing)]).toEqual([
      400,
      [{ field: 'currentPassword', message: 'is required to change the e-mail address' }],
    ]);
    const wrong = await change(eve.id, { email: 'eve2@example.org', currentPassword: 'not the password' }, token);
    expect([wrong.status, codeOf(wrong)]).toEqual([403, 'FORBIDDEN']);
    const put = await stack.call('PUT', `/v1/users/${eve.id}`, { body: { email: 'eve2@example.org', name: 'Eve' }, token });
    expect(put.status).toBe(400);
    expect((await change(eve.id, { name: 'Eve', email: credentials.email }, token)).status).toBe(200);
  });

  it('revokes every token and ends the other sessions; the own one refreshes', async () => {
    const [own, other] = [await logIn(stack.rest, credentials), await logIn(stack.rest, credentials)];
    const body = { email: 'eve2@example.org', currentPassword: credentials.password };
    expect((await change(eve.id, body, own.token)).status).toBe(200);
    await until(async () => (await statusOf(own.token)) === 401 && (await statusOf(other.token)) === 401);
    expect((await refresh(stack.rest, other.cookie)).status).toBe(401);
    const refreshed = await refresh(stack.rest, own.cookie);
    expect(refreshed.status).toBe(200);
  });

  it('may be set by an administrator without a password, which ends all sessions and is recorded', async () => {
    const { cookie, token } = await logIn(stack.rest, { ...credentials, email: 'eve2@example.org' });
    expect((await change(eve.id, { email: credentials.email }, admin.token)).status).toBe(200);
    expect(await statusOf(token)).toBe(401);
    expect((await refresh(stack.rest, cookie)).status).toBe(401);
    const [event] = await stack.sql('users', `SELECT "actorId" FROM security_events WHERE type = 'EMAIL_CHANGED' ORDER BY id DESC LIMIT 1`);
    expect(event).toEqual({ actorId: admin.id });
  });
});
