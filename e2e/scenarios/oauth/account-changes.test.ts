/** Logins at the authorization server that were begun before a change of their account which revokes its tokens. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Account } from '../../stack/stack.ts';
import { VERIFIER, authorizationPath } from './authorization-request.ts';
import { FormBrowser } from './form-browser.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

let system: OAuthSystem;
let app: RegisteredClient;
let owner: Account & { readonly email: string; readonly password: string };
let admin: Account;
let browser: FormBrowser;
let count = 0;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  admin = await system.stack.createAccount('Root', 'ADMIN');
  app = await system.register({
    ...{ grantTypes: ['authorization_code', 'refresh_token'], scopes: ['openid', 'offline_access', 'orders:read'] },
    ...{ redirectUris: [CALLBACK], isPublic: true, owner: system.ada.id },
  });
});
afterAll(() => system.stop());
beforeEach(async () => {
  const name = `Owner${String(++count)}`;
  owner = { ...(await system.stack.createAccount(name)), email: `${name.toLowerCase()}@example.org`, password: `${name}-passes-1` };
  browser = new FormBrowser(system.issuer);
  await browser.open(authorizationPath(app.id, { scope: 'openid orders:read' }));
});

/** Sends a request that must succeed, in the name of an account. */
const call = async (request: string, body: object, { token }: Account) => {
  const [method = '', path = ''] = request.split(' ');
  const { status, text } = await system.stack.call(method, path, { body, token });
  if (status >= 300) throw new Error(`${request}: ${String(status)} ${text}`);
};
const changePassword = () => call('POST /v1/auth/password', { currentPassword: owner.password, newPassword: 'Another-passes-1' }, owner);
const changeAddress = () => call(`PATCH /v1/users/${owner.id}`, { email: `new-${owner.email}`, currentPassword: owner.password }, owner);
const deactivate = async () => {
  await call(`PATCH /v1/users/${owner.id}`, { isActive: false }, admin);
  await call(`PATCH /v1/users/${owner.id}`, { isActive: true }, admin);
};
const endAllSessions = () => system.stack.graphql('mutation { logout(everywhere: true) }', { token: owner.token });
const credentials = () => ({ email: owner.email, password: owner.password, action: 'login' });

describe('a login whose redirect was not followed yet', () => {
  it('leads to the consent', async () => {
    await browser.open(await browser.submitOnly(credentials()));
    expect(browser.page?.html).toContain('value="approve"');
  });

  it.each([
    ['a new password', changePassword],
    ['a new e-mail address', changeAddress],
    ['a deactivation', deactivate],
    ['the end of all sessions', endAllSessions],
  ])('leads to no consent after %s', async (_, change) => {
    const location = await browser.submitOnly(credentials());
    await change();
    const { status, html, url } = await browser.open(location);
    expect([status, html]).toEqual([400, expect.not.stringContaining('value="approve"')]);
    expect(url).not.toContain('code=');
    // Nor is the browser logged in.
    await browser.open(authorizationPath(app.id));
    expect(browser.page?.html).toContain('name="password"');
  });

  it('is gone after the deletion of the account', async () => {
    const location = await browser.submitOnly(credentials());
    await system.stack.call('DELETE', `/v1/users/${owner.id}`, { token: owner.token });
    expect((await browser.open(location)).status).toBe(400);
    const rows = await system.stack.sql('users', `SELECT FROM "oauth_records" WHERE "payload"::text LIKE '%' || $1 || '%'`, [owner.id]);
    expect(rows).toEqual([]);
  });
});

describe('a consent whose page was opened before', () => {
  it.each([
    ['a new password', changePassword],
    ['the end of all sessions', endAllSessions],
  ])('gives no code after %s', async (_, change) => {
    await browser.submit(credentials());
    expect(browser.page?.html).toContain('value="approve"');
    await change();
    const { url } = await browser.submit({ action: 'approve' });
    expect(url).not.toContain('code=');
  });
});

describe('a code that was not exchanged yet', () => {
  it('gives no tokens after a new password', async () => {
    await browser.submit(credentials());
    const { url } = await browser.submit({ action: 'approve' });
    const fields = { grant_type: 'authorization_code', redirect_uri: CALLBACK, code_verifier: VERIFIER, client_id: app.id };
    const code = new URL(url).searchParams.get('code') ?? '';
    await changePassword();
    expect((await system.post('/oauth/token', { ...fields, code })).body['error']).toBe('invalid_grant');
  });
});
