/** Parameters that PostgreSQL does not store: they are errors of the client, at every endpoint and page that anybody may call. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type RequestParameters, authorizationPath } from './authorization-request.ts';
import { FormBrowser } from './form-browser.ts';
import { CALLBACK, DEVICE_GRANT, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

let system: OAuthSystem;
let app: RegisteredClient;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  app = await system.register({
    ...{ grantTypes: ['authorization_code', 'refresh_token', DEVICE_GRANT], scopes: ['openid', 'orders:read'] },
    ...{ owner: system.ada.id, isPublic: true, redirectUris: [CALLBACK] },
  });
});
afterAll(() => system.stop());

const open = (changes: RequestParameters, clientId = app.id) =>
  new FormBrowser(system.issuer).open(authorizationPath(clientId, { scope: 'openid', ...changes }));

describe('a parameter with U+0000', () => {
  it.each(['state', 'login_hint', 'nonce'])('is invalid_request for the client: %s', async (name) => {
    const { url } = await open({ [name]: 'a\0b' });
    expect(new URL(url).origin).toBe(new URL(CALLBACK).origin);
    expect(new URL(url).searchParams.get('error')).toBe('invalid_request');
  });

  it('names no client', async () => {
    expect((await open({}, '\0')).status).toBe(400);
    const { status, body } = await system.post('/oauth/token', { grant_type: 'refresh_token', refresh_token: 'x', client_id: '\0' });
    expect({ status, error: body['error'] }).toEqual({ status: 401, error: 'invalid_client' });
  });

  it.each([
    ['/oauth/device_authorization', { scope: 'openid', login_hint: '\0' }],
    ['/oauth/revoke', { token: '\0' }],
    ['/oauth/introspect', { token: '\0' }],
  ])('is invalid_request at %s', async (path, fields) => {
    const { status, body } = await system.post(path, { ...(fields as Record<string, string>), client_id: app.id });
    expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'invalid_request' });
  });

  it('is 400 in the forms of the login, the device code and the password reset', async () => {
    const browser = new FormBrowser(system.issuer);
    await browser.open(authorizationPath(app.id, { scope: 'openid' }));
    expect((await browser.submit({ action: 'login', email: 'a\0@example.org', password: 'x' })).status).toBe(400);
    await browser.open('/oauth/device');
    expect((await browser.submit({ user_code: 'B\0C' })).status).toBeLessThan(500);
    expect((await system.post('/password-reset', { email: 'a\0@example.org' })).status).toBe(400);
  });
});

it('refuses a device that sends more than is stored with invalid_request', async () => {
  const { status, body } = await system.post('/oauth/device_authorization', { client_id: app.id, login_hint: 'x'.repeat(20_000) });
  expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'invalid_request' });
});
