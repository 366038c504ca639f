/** Attacks on codes, tokens and redirects of the authorization server (RFC 9700 §4): each is refused, and nothing is given away. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { CHALLENGE, type RequestParameters, VERIFIER, authorizationPath } from './authorization-request.ts';
import { FormBrowser } from './form-browser.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

let system: OAuthSystem;
let app: RegisteredClient;
let other: RegisteredClient;
let browser: FormBrowser;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  const common = { grantTypes: ['authorization_code', 'refresh_token'], scopes: ['openid', 'orders:read'], owner: system.ada.id };
  app = await system.register({ ...common, isPublic: true, redirectUris: [CALLBACK] });
  other = await system.register({ ...common, redirectUris: ['http://127.0.0.1:9/other'] });
});
afterAll(() => system.stop());
beforeEach(() => {
  browser = new FormBrowser(system.issuer);
});

const addressOf = (changes: RequestParameters = {}) => authorizationPath(app.id, { scope: 'openid orders:read', ...changes });
const getCode = async () => (await browser.approve(addressOf(), system.ada)).searchParams.get('code') ?? '';
const redeem = (code: string, changes: Readonly<Record<string, string>> = {}, client?: RegisteredClient) => {
  const fields = { grant_type: 'authorization_code', client_id: app.id, redirect_uri: CALLBACK, code, code_verifier: VERIFIER };
  return system.post('/oauth/token', { ...fields, ...changes }, client);
};
const statusOf = async (token: unknown) => (await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token: String(token) })).status;

describe('PKCE', () => {
  it.each([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['the method plain', { code_challenge: VERIFIER, code_challenge_method: 'plain' }],
    ['no method, which means plain', { code_challenge_method: undefined }],
  ])('is demanded: %s is refused before any page', async (_, changes) => {
    const { url, html } = await browser.open(addressOf(changes));
    expect(new URL(url).searchParams.get('error')).toBe('invalid_request');
    expect(html).toBe('');
  });

  it.each([
    ['another verifier', { code_verifier: 'w'.repeat(43) }],
    ['an empty verifier', { code_verifier: '' }],
    ['the challenge as verifier', { code_verifier: CHALLENGE }],
  ])('refuses %s', async (_, changes) => {
    expect((await redeem(await getCode(), changes)).body['error']).toBe('invalid_grant');
  });
});

describe('redirects', () => {
  it.each([
    'https://evil.example/callback',
    `${CALLBACK}/../evil`,
    `${CALLBACK}?next=https://evil.example`,
    `${CALLBACK}#fragment`,
    'http://127.0.0.1:9@evil.example/callback',
    'javascript:alert(1)',
    '//evil.example',
    '',
  ])('never lead to %j, which is not registered', async (redirect) => {
    const { status, url, headers, html } = await browser.open(addressOf({ redirect_uri: redirect }));
    expect(status).toBe(400);
    expect(new URL(url).origin).toBe(system.issuer);
    expect(headers.get('location')).toBeNull();
    expect(html).not.toContain('<script');
  });

  it('of a code must be those of its request', async () => {
    expect((await redeem(await getCode(), { redirect_uri: 'http://127.0.0.1:9/other' })).body['error']).toBe('invalid_grant');
  });

  it('after the logout lead nowhere else', async () => {
    await getCode();
    await browser.open(
      `/oauth/logout?${new URLSearchParams({ client_id: app.id, post_logout_redirect_uri: 'https://evil.example/' }).toString()}`,
    );
    expect(browser.page?.status).toBe(400);
  });
});

describe('an authorization code', () => {
  it('gives at most one of ten requests at once tokens, and ends the grant', async () => {
    const code = await getCode();
    const replies = await Promise.all(Array.from({ length: 10 }, () => redeem(code)));
    const given = replies.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { body } of given) {
      expect(await statusOf(body['access_token'])).toBe(401);
      const refresh = { grant_type: 'refresh_token', client_id: app.id, refresh_token: String(body['refresh_token']) };
      expect((await system.post('/oauth/token', refresh)).body['error']).toBe('invalid_grant');
    }
  });

  it('ends the grant when it is used again later', async () => {
    const code = await getCode();
    const { body } = await redeem(code);
    expect(await statusOf(body['access_token'])).toBe(200);
    expect((await redeem(code)).body['error']).toBe('invalid_grant');
    expect(await statusOf(body['access_token'])).toBe(401);
  });

  it('is refused at another client', async () => {
    const code = await getCode();
    expect((await redeem(code, { client_id: other.id }, other)).body['error']).toBe('invalid_grant');
    expect((await redeem(code)).status).toBe(200);
  });
});

describe('another client', () => {
  it('can neither revoke nor introspect nor use the tokens of a client', async () => {
    const { body } = await redeem(await getCode());
    for (const token of [String(body['access_token']), String(body['refresh_token'])]) {
      expect((await system.post('/oauth/introspect', { token }, other)).body).toEqual({ active: false });
      await system.post('/oauth/revoke', { token }, other);
    }
    expect(await statusOf(body['access_token'])).toBe(200);
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) };
    expect((await system.post('/oauth/token', refresh, other)).body['error']).toBe('invalid_grant');
    expect((await system.post('/oauth/token', { ...refresh, client_id: app.id })).status).toBe(200);
  });

  it('cannot introspect by the id of a public client alone', async () => {
    const { body } = await redeem(await getCode());
    const reply = await system.post('/oauth/introspect', { token: String(body['access_token']), client_id: app.id });
    expect(reply.body).toEqual({ active: false });
  });

  it('cannot have more scopes than it is registered for', async () => {
    const { url } = await browser.open(addressOf({ scope: 'openid orders:write' }));
    expect(new URL(url).searchParams.get('error')).toBe('invalid_scope');
  });

  it('gets no scope that it was not given, account:manage least of all', async () => {
    const code = (await browser.approve(addressOf({ scope: 'openid orders:read account:manage nonsense' }), system.ada)).searchParams.get(
      'code',
    );
    const { body } = await redeem(code ?? '');
    expect(String(body['scope']).split(' ').toSorted()).toEqual(['openid', 'orders:read']);
  });
});
