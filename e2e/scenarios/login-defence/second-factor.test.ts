/** Authenticator apps and recovery codes (issue 13, ADR 21): enrolment, login by every transport, replay, guesses, administrators. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Reply } from '../../stack/clients/client.ts';
import { authorizationPath } from '../oauth/authorization-request.ts';
import { type OAuthSystem, type RegisteredClient, CALLBACK, startOAuthSystem } from '../oauth/oauth-system.ts';
import { FormBrowser } from '../oauth/form-browser.ts';
import { logIn } from '../sessions/browser.ts';
import { totpOf } from './totp.ts';

let system: OAuthSystem;
let app: RegisteredClient;
const ada = { email: 'ada@example.org', password: 'Ada-passes-1' };
/** The secret of Ada's authenticator app, and her recovery codes. */
let secret: string;
let codes: string[];

beforeAll(async () => {
  system = await startOAuthSystem({ REQUIRE_ADMIN_SECOND_FACTOR: 'on' });
  app = await system.register({
    grantTypes: ['authorization_code'],
    scopes: ['openid', 'orders:read'],
    redirectUris: [CALLBACK],
    isPublic: true,
    owner: system.ada.id,
  });
  const { token } = await logIn(system.issuer, ada);
  ({ secret, codes } = await enrol(token, ada.password));
});
afterAll(() => system.stop());
/** Codes are valid once: each test begins as if the last one were long ago. */
beforeEach(() => system.stack.sql('users', 'WITH cleared AS (DELETE FROM failed_attempts) UPDATE totp_secrets SET "lastStep" = NULL'));

const post = (path: string, body: object, token?: string) => system.stack.call('POST', `/v1/auth${path}`, { body, token });
/** What the responses of these routes may have. */
interface Body {
  readonly accessToken: string;
  readonly secret: string;
  readonly uri: string;
  readonly recoveryCodes: string[];
  readonly error: { readonly secondFactor?: { readonly challenge: string; readonly methods: string[] } };
}
const bodyOf = ({ body }: Reply) => body as Body;
const begin = (credentials: object) => post('/login', credentials);
const demandOf = (reply: Reply) => bodyOf(reply).error.secondFactor;
const challengeOf = async () => demandOf(await begin(ada))?.challenge ?? '';
const complete = (challenge: string, code: string) => post('/login/second-factor', { challenge, code });

async function enrol(token: string, currentPassword: string) {
  const started = await post('/second-factor/totp', { currentPassword }, token);
  const enrolment = bodyOf(started);
  expect(enrolment.uri).toMatch(/^otpauth:\/\/totp\/Trestle:.*secret=[A-Z2-7]{32}/);
  const confirmed = await post('/second-factor/totp/confirmation', { code: totpOf(enrolment.secret) }, token);
  return { secret: enrolment.secret, codes: bodyOf(confirmed).recoveryCodes };
}

describe('enrolment', () => {
  it('needs the current password and a first code, and shows ten recovery codes once', async () => {
    const { id } = await system.stack.createAccount('Eve');
    const { token } = await logIn(system.issuer, { email: 'eve@example.org', password: 'Eve-passes-1' });
    expect((await post('/second-factor/totp', { currentPassword: 'not the password' }, token)).status).toBe(403);
    const { secret: first } = bodyOf(await post('/second-factor/totp', { currentPassword: 'Eve-passes-1' }, token));
    // Nothing protects the account until the code has proved that its owner has the secret.
    await logIn(system.issuer, { email: 'eve@example.org', password: 'Eve-passes-1' });
    expect((await post('/second-factor/totp/confirmation', { code: '000000' }, token)).status).toBe(400);
    const confirmed = await post('/second-factor/totp/confirmation', { code: totpOf(first) }, token);
    expect(confirmed.status).toBe(200);
    const { recoveryCodes } = bodyOf(confirmed);
    expect(new Set(recoveryCodes).size).toBe(10);
    for (const code of recoveryCodes) expect(code).toMatch(/^[2-9a-z]{5}-[2-9a-z]{5}$/);
    const status = await system.stack.call('GET', '/v1/auth/second-factor', { token });
    expect(status.body).toEqual({ isEnabled: true, hasTotp: true, recoveryCodesLeft: 10, passkeys: [] });
    expect((await post('/second-factor/totp', { currentPassword: 'Eve-passes-1' }, token)).status).toBe(422);
    expect((await post('/second-factor/totp/removal', { currentPassword: 'Eve-passes-1' }, token)).status).toBe(204);
    await logIn(system.issuer, { email: 'eve@example.org', password: 'Eve-passes-1' });
    const events = await system.stack.sql<{ type: string }>('users', `SELECT type FROM security_events WHERE "userId" = $1`, [id]);
    expect(events.map(({ type }) => type)).toEqual(expect.arrayContaining(['SECOND_FACTOR_ENABLED', 'SECOND_FACTOR_DISABLED']));
  });

  it('stores neither secrets nor codes in clear text', async () => {
    const rows = await system.stack.sql<{ row: string }>(
      'users',
      `SELECT t::text AS row FROM totp_secrets t UNION ALL SELECT r::text FROM recovery_codes r UNION ALL SELECT c::text FROM challenges c`,
    );
    const challenge = await challengeOf();
    for (const { row } of rows) for (const hidden of [secret, challenge, ...codes]) expect(row).not.toContain(hidden);
  });
});

describe('a login with a second factor', () => {
  it('answers 401 with a challenge, and 200 with tokens and the cookie when the code completes it', async () => {
    const reply = await begin(ada);
    expect([reply.status, reply.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="api"']);
    expect(reply.headers.get('set-cookie')).toBeNull();
    expect(demandOf(reply)).toEqual({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      expiresIn: 300,
      methods: ['totp', 'recovery_code'],
    });
    const completed = await complete(demandOf(reply)?.challenge ?? '', totpOf(secret));
    expect([completed.status, completed.body]).toEqual([200, expect.objectContaining({ accessToken: expect.any(String), expiresIn: 900 })]);
    expect(completed.headers.get('set-cookie')).toMatch(/^trestle-refresh=/);
  });

  it('is the same by GraphQL, with the reason in `extensions`', async () => {
    const login = await system.stack.graphql(
      'mutation($email: String!, $password: String!) { login(email: $email, password: $password) { token } }',
      {
        variables: ada,
      },
    );
    const extensions = login.errors[0]?.extensions as { code: string; reason: string; secondFactor: { challenge: string } };
    expect(extensions).toMatchObject({ code: 'UNAUTHORIZED', reason: 'second_factor_required' });
    const { data } = await system.stack.graphql<{ completeLogin: { token: string } }>(
      'mutation($challenge: String!, $code: String!) { completeLogin(challenge: $challenge, code: $code) { token } }',
      { variables: { challenge: extensions.secondFactor.challenge, code: totpOf(secret) } },
    );
    expect(data?.completeLogin.token).toBeDefined();
  });

  it('accepts each code once, also for other logins and in parallel, and each challenge once', async () => {
    const challenges = await Promise.all([challengeOf(), challengeOf(), challengeOf()]);
    const code = totpOf(secret);
    const replies = await Promise.all(challenges.map((challenge) => complete(challenge, code)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    const used = challenges[replies.findIndex(({ status }) => status === 200)] ?? '';
    expect((await complete(used, totpOf(secret, 1))).status).toBe(401);
    const open = challenges[replies.findIndex(({ status }) => status === 401)] ?? '';
    expect((await complete(open, totpOf(secret, 1))).status).toBe(200);
  });

  it('accepts each recovery code once, in any case and with or without the hyphen', async () => {
    const [code = ''] = codes.splice(0, 1);
    expect((await complete(await challengeOf(), ` ${code.toUpperCase().replace('-', '')}`)).status).toBe(200);
    expect((await complete(await challengeOf(), code)).status).toBe(401);
    const [event] = await system.stack.sql('users', `SELECT "userId" FROM security_events WHERE type = 'RECOVERY_CODE_USED'`);
    expect(event).toEqual({ userId: system.ada.id });
  });

  it('refuses challenges that are invented, expired, or older than a change of the password', async () => {
    for (const challenge of ['', 'x', 'A'.repeat(43), `${'A'.repeat(42)}'`])
      expect((await complete(challenge, totpOf(secret))).status).toBe(401);
    const expired = await challengeOf();
    await system.stack.sql('users', `UPDATE challenges SET "expiresAt" = now()`);
    expect((await complete(expired, totpOf(secret))).status).toBe(401);
    const old = await challengeOf();
    await system.stack.sql('users', `UPDATE users SET "tokenGeneration" = "tokenGeneration" + 1 WHERE email = $1`, [ada.email]);
    expect((await complete(old, totpOf(secret))).status).toBe(401);
  });

  it('checks ten codes at most, then not even the right one', async () => {
    const [challenge, other] = [await challengeOf(), await challengeOf()];
    const replies = await Promise.all(Array.from({ length: 30 }, (_, i) => complete(challenge, String(i).padStart(6, '0'))));
    const checked = replies.filter(({ status }) => status === 401).length;
    expect(checked).toBeGreaterThanOrEqual(10);
    expect(checked).toBeLessThanOrEqual(12);
    await system.stack.sql('users', `UPDATE failed_attempts SET "blockedUntil" = clock_timestamp() + interval '100 seconds'`);
    expect((await complete(other, totpOf(secret))).status).toBe(429);
    await system.stack.sql('users', 'DELETE FROM failed_attempts');
    expect((await complete(challenge, totpOf(secret))).status).toBe(200);
  });
});

describe('the page of the authorization server', () => {
  it('asks for the code too', async () => {
    const browser = new FormBrowser(system.issuer);
    await browser.open(authorizationPath(app.id, { scope: 'openid orders:read' }));
    const asked = await browser.submit({ ...ada, action: 'login' });
    expect([asked.status, asked.html.includes('one-time-code'), asked.html.includes(ada.password)]).toEqual([200, true, false]);
    const wrong = await browser.submit({ code: '000000', action: 'login' });
    expect([wrong.status, wrong.html.includes('The code is wrong or was used before.')]).toEqual([422, true]);
    const { html } = await browser.submit({ code: totpOf(secret), action: 'login' });
    expect(html).toContain('value="approve"');
    const { url } = await browser.submit({ action: 'approve' });
    expect(new URL(url).searchParams.get('code')).toEqual(expect.any(String));
  });
});

describe('an administrator, with REQUIRE_ADMIN_SECOND_FACTOR=on', () => {
  it('gets tokens that can only add a second factor until there is one', async () => {
    const root = { email: 'root@example.org', password: 'Root-passes-1' };
    const { id } = await system.stack.createAccount('Root', 'ADMIN');
    const { token } = await logIn(system.issuer, root);
    const audit = (used: string) => system.stack.call('GET', '/v1/security-events', { token: used });
    expect((await audit(token)).status).toBe(403);
    expect((await system.stack.call('PATCH', `/v1/users/${system.ada.id}`, { body: { role: 'admin' }, token })).status).toBe(403);
    expect((await system.stack.call('GET', '/v1/orders', { token })).status).toBe(403);
    const key = await system.stack.call('POST', '/v1/api-keys', { token, body: { name: 'A way around', scopes: ['account:manage'] } });
    const headers = { 'x-api-key': bodyOf(key).secret };
    expect((await system.stack.call('GET', '/v1/security-events', { headers })).status).toBe(403);
    const { secret: own } = await enrol(token, root.password);
    await system.stack.sql('users', 'UPDATE totp_secrets SET "lastStep" = NULL WHERE "userId" = $1', [id]);
    const { challenge = '' } = demandOf(await begin(root)) ?? {};
    const completed = await complete(challenge, totpOf(own));
    expect((await audit(bodyOf(completed).accessToken)).status).toBe(200);
  });
});
