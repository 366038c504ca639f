/** The device flow (RFC 8628), with real clients and pages without scripts. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { FormBrowser } from './form-browser.ts';
import { DEVICE_GRANT, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';
import { allowLoopback, insecure } from './real-clients.ts';

let system: OAuthSystem;
let device: RegisteredClient;
let browser: FormBrowser;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  const scopes = ['openid', 'posts:read'];
  device = await system.register({ grantTypes: [DEVICE_GRANT, 'refresh_token'], scopes, isPublic: true, owner: system.ada.id });
});
afterAll(() => system.stop());
beforeEach(() => {
  browser = new FormBrowser(system.issuer);
});

interface Started {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
}

const start = async () =>
  (await system.post('/oauth/device_authorization', { client_id: device.id, scope: 'openid posts:read' })).body as unknown as Started;
const poll = ({ device_code: code }: Started) =>
  system.post('/oauth/token', { grant_type: DEVICE_GRANT, client_id: device.id, device_code: code });

/** Enters the code, confirms it, logs in and answers the question for consent. */
async function decide(
  { user_code: userCode, verification_uri: address }: Pick<Started, 'user_code' | 'verification_uri'>,
  action: 'approve' | 'deny',
): Promise<string> {
  await browser.open(address);
  await browser.submit({ user_code: userCode.toLowerCase() });
  await browser.submit({ confirm: 'yes' });
  await browser.submit({ ...system.ada, action: 'login' });
  return (await browser.submit({ action })).html;
}

describe('the device flow', () => {
  it('gives openid-client tokens when the user has allowed it', async () => {
    const config = await openid.discovery(new URL(system.issuer), device.id, undefined, openid.None(), { execute: [allowLoopback] });
    const started = await openid.initiateDeviceAuthorization(config, { scope: 'openid posts:read' });
    expect(started.interval).toBe(5);
    expect(await decide(started, 'approve')).toContain('Device connected');
    // The interval is for those who wait; the user has decided already.
    const tokens = await openid.pollDeviceAuthorizationGrant(config, { ...started, interval: 0 });
    expect(tokens.scope?.split(' ').toSorted()).toEqual(['openid', 'posts:read']);
    expect(tokens.claims()?.sub).toBe(system.ada.id);
    const { data } = await system.stack.graphql<{ me: object }>('{ me { id } }', { token: tokens.access_token });
    expect(data?.me).toEqual({ id: system.ada.id });
    expect((await openid.refreshTokenGrant(config, tokens.refresh_token ?? '')).access_token).toEqual(expect.any(String));
  });

  it('works with oauth4webapi', async () => {
    const issuer = new URL(system.issuer);
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const client = { client_id: device.id };
    const parameters = new URLSearchParams({ scope: 'posts:read' });
    const begun = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), parameters, insecure);
    const started = await oauth.processDeviceAuthorizationResponse(server, client, begun);
    await decide(started, 'approve');
    const response = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), started.device_code, insecure);
    expect((await oauth.processDeviceCodeResponse(server, client, response)).scope).toBe('posts:read');
  });

  it('answers access_denied when the user denies it', async () => {
    const started = await start();
    expect(await decide(started, 'deny')).toContain('The request was denied');
    expect((await poll(started)).body['error']).toBe('access_denied');
  });

  it('answers access_denied when the user does not recognise the device', async () => {
    const started = await start();
    await browser.open(started.verification_uri);
    await browser.submit({ user_code: started.user_code });
    await browser.submit({ abort: 'yes' });
    expect((await poll(started)).body['error']).toBe('access_denied');
  });

  it('shows the code of a complete address and lets the user confirm it', async () => {
    const started = await start();
    const { html } = await browser.open(started.verification_uri_complete);
    expect(html).toContain(`value="${started.user_code}"`);
    expect((await browser.submit({ user_code: started.user_code })).html).toContain('Is this your device?');
  });

  it('stores neither of its codes in clear text, while a person confirms it and afterwards', async () => {
    const started = await start();
    const secrets = [started.device_code, started.user_code, started.user_code.replace('-', '')];
    const stored = async () =>
      (await system.stack.sql<{ row: string }>('users', 'SELECT r::text AS row FROM oauth_records r')).map(({ row }) => row);
    await browser.open(started.verification_uri);
    await browser.submit({ user_code: started.user_code });
    await browser.submit({ confirm: 'yes' });
    const before = await stored();
    await browser.submit({ ...system.ada, action: 'login' });
    await browser.submit({ action: 'approve' });
    for (const row of [...before, ...(await stored())]) for (const secret of secrets) expect(row).not.toContain(secret);
  });

  it('answers slow_down to a device that polls too fast, and authorization_pending to one that does not', async () => {
    const started = await start();
    expect((await poll(started)).body['error']).toBe('authorization_pending');
    expect((await poll(started)).body['error']).toBe('slow_down');
    await system.stack.sql('users', `UPDATE "oauth_records" SET "polledAt" = now() - interval '6 seconds' WHERE "polledAt" IS NOT NULL`);
    expect((await poll(started)).body['error']).toBe('authorization_pending');
  });

  it('answers expired_token when the code has expired', async () => {
    const started = await start();
    await system.stack.sql('users', `UPDATE "oauth_records" SET "payload" = "payload" || '{"exp": 1}' WHERE "kind" = 'DeviceCode'`);
    expect((await poll(started)).body['error']).toBe('expired_token');
  });

  it('gives one of ten requests at once the tokens, and ends the grant for the others', async () => {
    const started = await start();
    await decide(started, 'approve');
    const replies = await Promise.all(Array.from({ length: 10 }, () => poll(started)));
    const given = replies.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { body } of given) {
      const { errors } = await system.stack.graphql('{ me { id } }', { token: String(body['access_token']) });
      expect(errors[0]?.extensions['code']).toBe('UNAUTHORIZED');
    }
  });

  it('refuses a device code at another client, and the handle of a stored code', async () => {
    const other = await system.register({ grantTypes: [DEVICE_GRANT], scopes: ['posts:read'], isPublic: true, owner: system.ada.id });
    const started = await start();
    await decide(started, 'approve');
    const [row] = await system.stack.sql<{ hash: string }>(
      'users',
      `SELECT encode("keyHash", 'hex') AS "hash" FROM "oauth_records" WHERE "kind" = 'DeviceCode' AND "lookup" = $1`,
      [started.user_code.replace('-', '')],
    );
    const fields = { grant_type: DEVICE_GRANT, client_id: device.id };
    const attempts = [
      { ...fields, client_id: other.id, device_code: started.device_code },
      { ...fields, device_code: `sha256:${row?.hash ?? ''}` },
    ];
    for (const attempt of attempts) expect((await system.post('/oauth/token', attempt)).body['error']).toBe('invalid_grant');
  });

  it('answers a form without a session with a new form', async () => {
    const response = await browser.open('/oauth/device', { method: 'POST', body: new URLSearchParams({ user_code: 'BBBB-BBBB' }) });
    expect(response.status).toBeLessThan(500);
    expect(response.html).toContain('Connect a device');
  });

  it('refuses further codes after ten wrong ones, also the right one', async () => {
    const started = await start();
    await browser.open('/oauth/device');
    for (let guess = 0; guess < 10; guess++) {
      const { html } = await browser.submit({ user_code: 'BBBB-BBBB' });
      expect(html).toContain('The code is wrong');
    }
    const { status, headers } = await browser.submit({ user_code: started.user_code });
    expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 429, retryAfter: '600' });
  });
});
