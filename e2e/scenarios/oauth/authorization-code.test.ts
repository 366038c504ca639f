/** The authorization code flow with PKCE, refresh and OpenID Connect (RFC 6749 §4.1, RFC 7636, OpenID Connect Core §3.1), with real clients. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { until } from '../../stack/clients/client.ts';
import { VERIFIER, authorizationPath } from './authorization-request.ts';
import { FormBrowser } from './form-browser.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';
import { allowLoopback, insecure } from './real-clients.ts';

const ROTATE = fileURLToPath(new URL('../../../subgraphs/users/dist/keys/main.js', import.meta.url));

let system: OAuthSystem;
let app: RegisteredClient;
let web: RegisteredClient;
let browser: FormBrowser;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  const scopes = ['openid', 'profile', 'email', 'offline_access', 'orders:read', 'users:read'];
  const common = { grantTypes: ['authorization_code', 'refresh_token'], scopes, redirectUris: [CALLBACK], owner: system.ada.id };
  app = await system.register({ ...common, isPublic: true });
  web = await system.register(common);
});
afterAll(() => system.stop());
beforeEach(() => {
  browser = new FormBrowser(system.issuer);
});

async function discover({ id, secret }: RegisteredClient, isPublic = false): Promise<openid.Configuration> {
  // The second makes the client verify the signatures of ID tokens.
  const execute = [allowLoopback, openid.enableNonRepudiationChecks];
  return openid.discovery(new URL(system.issuer), id, isPublic ? undefined : secret, isPublic ? openid.None() : undefined, { execute });
}

/** Runs the whole flow with openid-client. */
async function logIn(scope = 'openid profile email orders:read users:read', client = app) {
  const config = await discover(client, client === app);
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const nonce = openid.randomNonce();
  const challenge = await openid.calculatePKCECodeChallenge(verifier);
  const parameters = { redirect_uri: CALLBACK, scope, state, nonce, code_challenge: challenge, code_challenge_method: 'S256' };
  const returned = await browser.approve(openid.buildAuthorizationUrl(config, parameters), system.ada);
  const tokens = await openid.authorizationCodeGrant(config, returned, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    ...(scope.includes('openid') && { expectedNonce: nonce, idTokenExpected: true }),
  });
  return { config, tokens };
}

describe('the authorization code flow', () => {
  it('gives openid-client an ID token, and an access token that bridge and gateway accept', async () => {
    const { config, tokens } = await logIn();
    expect(tokens.claims()).toMatchObject({ iss: system.issuer, sub: system.ada.id, aud: app.id });
    expect(tokens.scope?.split(' ').toSorted()).toEqual(['email', 'openid', 'orders:read', 'profile', 'users:read']);
    expect((await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token: tokens.access_token })).body).toMatchObject({
      email: system.ada.email,
    });
    const info = await openid.fetchUserInfo(config, tokens.access_token, system.ada.id);
    expect(info).toMatchObject({ sub: system.ada.id, email: system.ada.email, name: 'Ada' });
  });

  it('works with oauth4webapi and a confidential client, without OpenID', async () => {
    const issuer = new URL(system.issuer);
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const client = { client_id: web.id };
    const verifier = oauth.generateRandomCodeVerifier();
    const address = new URL(server.authorization_endpoint ?? '');
    const parameters = { client_id: web.id, redirect_uri: CALLBACK, response_type: 'code', scope: 'orders:read', state: 'a state' };
    const challenge = { code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256' };
    address.search = new URLSearchParams({ ...parameters, ...challenge }).toString();
    const returned = oauth.validateAuthResponse(server, client, await browser.approve(address, system.ada), 'a state');
    const auth = oauth.ClientSecretBasic(web.secret);
    const response = await oauth.authorizationCodeGrantRequest(server, client, auth, returned, CALLBACK, verifier, insecure);
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
    expect(tokens.scope).toBe('orders:read');
    expect(tokens).not.toHaveProperty('id_token');
  });

  it('puts the grant, the client and only the scopes that were allowed into the token', async () => {
    const { tokens } = await logIn('openid orders:read');
    const claims = JSON.parse(Buffer.from(tokens.access_token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
    expect(claims).toMatchObject({ client_id: app.id, scope: 'orders:read openid', sub: system.ada.id });
    expect(claims['sid']).toEqual(expect.any(String));
  });

  it('asks for the consent again when a client asks for more', async () => {
    await logIn('openid', web);
    const second = new FormBrowser(system.issuer);
    second.steal(browser, 'session');
    const { html } = await second.open(authorizationPath(web.id, { scope: 'openid orders:read' }));
    expect(html).toContain('Read your orders');
    expect(html).not.toContain('name="password"');
  });
});

describe('refresh', () => {
  it('gives new tokens and a new refresh token', async () => {
    const { config, tokens } = await logIn();
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    expect(refreshed.refresh_token).not.toBe(tokens.refresh_token);
    expect(refreshed.access_token).not.toBe(tokens.access_token);
    expect((await openid.refreshTokenGrant(config, refreshed.refresh_token ?? '')).access_token).toEqual(expect.any(String));
  });

  it('can narrow the scope and never widen it', async () => {
    const { config, tokens } = await logIn('openid orders:read users:read');
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', { scope: 'orders:read' });
    expect(refreshed.scope).toBe('orders:read');
    const wider = openid.refreshTokenGrant(config, refreshed.refresh_token ?? '', { scope: 'orders:read email' });
    await expect(wider).rejects.toMatchObject({ error: 'invalid_scope' });
  });

  it('reads at the endpoint of OpenID only the claims of its own scope, whatever the grant has', async () => {
    const { config, tokens } = await logIn('openid email profile orders:read');
    const narrowed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '', { scope: 'openid profile' });
    const info = await openid.fetchUserInfo(config, narrowed.access_token, system.ada.id);
    expect(info).toEqual({ sub: system.ada.id, name: 'Ada', updated_at: expect.any(Number) });
    const without = await openid.refreshTokenGrant(config, narrowed.refresh_token ?? '', { scope: 'orders:read' });
    const refused = await system.stack.call('GET', '/oauth/userinfo', { token: without.access_token });
    expect([refused.status, refused.body]).toEqual([403, expect.objectContaining({ error: 'insufficient_scope' })]);
  });

  it('ends the grant with all its tokens when a refresh token is used twice', async () => {
    const { config, tokens } = await logIn();
    const refreshed = await openid.refreshTokenGrant(config, tokens.refresh_token ?? '');
    await expect(openid.refreshTokenGrant(config, tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(openid.refreshTokenGrant(config, refreshed.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    for (const token of [tokens.access_token, refreshed.access_token]) {
      expect((await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token })).status).toBe(401);
    }
  });

  it('gives at most one of ten requests with the same refresh token new tokens, and then ends the grant', async () => {
    const { tokens } = await logIn();
    const fields = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '', client_id: app.id };
    const replies = await Promise.all(Array.from({ length: 10 }, () => system.post('/oauth/token', fields)));
    const given = replies.filter(({ status }) => status === 200);
    expect(given.length).toBeLessThanOrEqual(1);
    for (const { body } of given) {
      const again = await system.post('/oauth/token', { ...fields, refresh_token: String(body['refresh_token']) });
      expect(again.body['error']).toBe('invalid_grant');
      expect((await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token: String(body['access_token']) })).status).toBe(401);
    }
  });
});

describe('what an account has allowed', () => {
  interface Page {
    readonly data: readonly { readonly id: string; readonly clientId: string }[];
  }
  const sidOf = (token: string) => (JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as { sid: string }).sid;
  const eventsOf = (subject: string) =>
    system.stack.sql<{ type: string; detail: string; userId: string; device: string; address: string }>(
      'users',
      'SELECT "type", "detail", "userId", "device", "address" FROM "security_events" WHERE "subject" = $1 ORDER BY "createdAt", "id"',
      [subject],
    );

  it('is listed, can be withdrawn by the account, and is then refused at once everywhere', async () => {
    const { config, tokens } = await logIn();
    const id = sidOf(tokens.access_token);
    const { body } = await system.stack.call('GET', '/v1/authorizations?limit=100', { token: system.ada.token });
    expect((body as Page).data.find((each) => each.id === id)).toEqual({
      id,
      clientId: app.id,
      clientName: 'Test application',
      scopes: ['openid', 'profile', 'email', 'users:read', 'orders:read'],
      createdAt: expect.stringMatching(/Z$/),
      lastUsedAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
    });
    // Neither another account nor the client itself may do it.
    const bob = await system.stack.createAccount('Eve');
    const path = `/v1/authorizations/${id}`;
    expect((await system.stack.call('DELETE', path, { token: bob.token })).status).toBe(404);
    expect((await system.stack.call('DELETE', path, { token: tokens.access_token })).status).toBe(403);
    expect((await system.stack.call('DELETE', path, { token: system.ada.token })).status).toBe(204);
    expect((await system.stack.call('DELETE', path, { token: system.ada.token })).status).toBe(404);
    expect((await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token: tokens.access_token })).status).toBe(401);
    await expect(openid.refreshTokenGrant(config, tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    const { data } = await system.stack.graphql<{ authorizations: { edges: { node: { id: string } }[] } }>(
      '{ authorizations(first: 100) { edges { node { id } } } }',
      { token: system.ada.token },
    );
    expect(data?.authorizations.edges.map(({ node }) => node.id)).not.toContain(id);
  });

  it('is in the audit trail: the consent, and what has ended it', async () => {
    const common = { grantTypes: ['authorization_code', 'refresh_token'], redirectUris: [CALLBACK], isPublic: true, owner: system.ada.id };
    const client = await system.register({ ...common, scopes: ['openid', 'orders:read'] });
    const given = async () => {
      const address = authorizationPath(client.id, { scope: 'openid orders:read' });
      const code = (await new FormBrowser(system.issuer).approve(address, system.ada)).searchParams.get('code') ?? '';
      const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
      const { body } = await system.post('/oauth/token', { ...fields, client_id: client.id });
      return { fields, refresh: String(body['refresh_token']), access: String(body['access_token']) };
    };
    const first = await given();
    await system.post('/oauth/revoke', { token: first.refresh, client_id: client.id });
    const second = await given();
    await system.post('/oauth/token', { ...second.fields, client_id: client.id });
    const third = await given();
    await system.stack.call('DELETE', `/v1/authorizations/${sidOf(third.access)}`, { token: system.ada.token });
    const events = await eventsOf(client.id);
    const consent = ['CONSENT_GIVEN', 'openid orders:read'];
    expect(events.map(({ type, detail }) => [type, detail])).toEqual([
      consent,
      ['CONSENT_WITHDRAWN', 'by the client'],
      consent,
      ['CONSENT_WITHDRAWN', 'a code or refresh token was used twice'],
      consent,
      ['CONSENT_WITHDRAWN', 'by the account'],
    ]);
    expect(events[0]).toMatchObject({ userId: system.ada.id, device: 'node', address: '127.0.0.0/24' });
  });
});

describe('revocation', () => {
  it.each(['access_token', 'refresh_token'] as const)('of the %s ends the grant at once everywhere', async (kind) => {
    const { config, tokens } = await logIn();
    await openid.tokenRevocation(config, tokens[kind] ?? '');
    await expect(openid.refreshTokenGrant(config, tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    expect((await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token: tokens.access_token })).status).toBe(401);
    const { errors } = await system.stack.graphql('{ me { id } }', { token: tokens.access_token });
    expect(errors[0]?.extensions['code']).toBe('UNAUTHORIZED');
  });

  it('follows the revocation of all tokens of the account', async () => {
    const bob = { ...(await system.stack.createAccount('Bob')), email: 'bob@example.org', password: 'Bob-passes-1' };
    const address = authorizationPath(web.id);
    const code = (await browser.approve(address, bob)).searchParams.get('code') ?? '';
    const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    const { body } = await system.post('/oauth/token', fields, web);
    await system.stack.graphql('mutation { logout(everywhere: true) }', { token: bob.token });
    const refresh = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) };
    expect((await system.post('/oauth/token', refresh, web)).body['error']).toBe('invalid_grant');
    await browser.open(address);
    expect(browser.page?.html).toContain('name="password"');
  });
});

describe('the key of ID tokens', () => {
  const kidOf = (token = '') => (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;

  it('is replaced by `npm run keys:rotate` without a restart; keys of tokens that are still valid stay published', async () => {
    const before = kidOf((await logIn()).tokens.id_token);
    const env = { ...process.env, ...system.stack.keyFiles };
    await promisify(execFile)(process.execPath, [ROTATE, '--delay', '2'], { env });
    let after = before;
    await until(async () => (after = kidOf((await logIn()).tokens.id_token)) !== before);
    const { keys } = (await (await fetch(`${system.issuer}/oauth/jwks`)).json()) as { keys: { kid: string }[] };
    expect(keys.map(({ kid }) => kid)).toEqual([after, before]);
  });
});
