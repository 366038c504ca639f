/** Client credentials, discovery, introspection and revocation, with real clients (RFC 6749 §4.4, RFC 7009, RFC 7662, RFC 8414). */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { sendRaw } from '../api-keys/raw-request.ts';
import { type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';
import { allowLoopback, allowLoopbackIn, insecure } from './real-clients.ts';

let system: OAuthSystem;
let machine: RegisteredClient;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  machine = await system.register({
    grantTypes: ['client_credentials'],
    scopes: ['orders:read', 'users:read'],
    owner: system.ada.id,
  });
});
afterAll(() => system.stop());

const discover = () => openid.discovery(new URL(system.issuer), machine.id, machine.secret, undefined, { execute: [allowLoopback] });

describe('discovery', () => {
  it('describes the server at both well-known addresses, with the same issuer', async () => {
    for (const path of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server']) {
      const response = await fetch(`${system.issuer}${path}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({
        issuer: system.issuer,
        authorization_endpoint: `${system.issuer}/oauth/authorize`,
        token_endpoint: `${system.issuer}/oauth/token`,
        code_challenge_methods_supported: ['S256'],
        response_types_supported: ['code'],
      });
    }
  });

  it('may be cached by anyone, and names no request header twice in Vary', async () => {
    for (const path of ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server', '/oauth/jwks']) {
      const { headers } = await fetch(`${system.issuer}${path}`, { headers: { origin: 'https://elsewhere.example' } });
      expect([path, headers.get('cache-control')]).toEqual([path, expect.stringMatching(/^public, max-age=\d+/)]);
      const names = (headers.get('vary') ?? '').split(', ').filter((name) => name !== '');
      expect([path, names]).toEqual([path, [...new Set(names)]]);
    }
  });

  it('advertises every delegable scope and never account:manage', async () => {
    const { scopes_supported: scopes } = (await (await fetch(`${system.issuer}/.well-known/openid-configuration`)).json()) as {
      scopes_supported: string[];
    };
    expect(scopes).toEqual(expect.arrayContaining(['openid', 'offline_access', 'users:read', 'orders:write', 'messages:write']));
    expect(scopes).not.toContain('account:manage');
  });

  it('publishes the public half of its keys only', async () => {
    const { keys } = (await (await fetch(`${system.issuer}/oauth/jwks`)).json()) as { keys: Record<string, unknown>[] };
    expect(keys).toHaveLength(1);
    expect(keys[0]).toMatchObject({ kty: 'EC', crv: 'P-256', alg: 'ES256' });
    expect(keys[0]).not.toHaveProperty('d');
  });
});

describe('client credentials', () => {
  it('give openid-client a token that bridge and gateway accept for the owner', async () => {
    const tokens = await openid.clientCredentialsGrant(await discover(), { scope: 'orders:read users:read' });
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'users:read orders:read', expires_in: 900 });
    const { status, body } = await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token: tokens.access_token });
    expect(status).toBe(200);
    expect(body).toMatchObject({ email: system.ada.email });
    const { data } = await system.stack.graphql<{ me: { id: string } }>('{ me { id } }', { token: tokens.access_token });
    expect(data).toEqual({ me: { id: system.ada.id } });
  });

  it('give oauth4webapi a token, by client_secret_basic', async () => {
    const issuer = new URL(system.issuer);
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
    const client = { client_id: machine.id };
    const auth = oauth.ClientSecretBasic(machine.secret);
    const response = await oauth.clientCredentialsGrantRequest(server, client, auth, new URLSearchParams(), insecure);
    const tokens = await oauth.processClientCredentialsResponse(server, client, response);
    expect(tokens.access_token).toEqual(expect.any(String));
  });

  it('give the token all scopes of the client when the request names none', async () => {
    const { body, headers } = await system.post('/oauth/token', { grant_type: 'client_credentials' }, machine);
    // RFC 6749 §5.1.
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
    expect(body['scope']).toBe('users:read orders:read');
  });

  it.each(['orders:write', 'account:manage', 'nonsense'])('refuse the scope %s, which the client may not have', async (scope) => {
    const { status, body } = await system.post('/oauth/token', { grant_type: 'client_credentials', scope }, machine);
    expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'invalid_scope' });
  });

  it('refuse a wrong secret as they refuse an unknown client', async () => {
    const attempts = [
      { ...machine, secret: 'wrong' },
      { id: 'cli_unknown', secret: machine.secret },
    ];
    for (const attempt of attempts) {
      const { status, body } = await system.post('/oauth/token', { grant_type: 'client_credentials' }, attempt);
      expect({ status, error: body['error'] }).toEqual({ status: 401, error: 'invalid_client' });
    }
  });

  it('refuse a client without that grant', async () => {
    const other = await system.register({ grantTypes: ['refresh_token'], scopes: ['users:read'], owner: system.ada.id });
    const { status, body } = await system.post('/oauth/token', { grant_type: 'client_credentials' }, other);
    expect({ status, error: body['error'] }).toEqual({ status: 400, error: 'unauthorized_client' });
  });
});

describe('the scopes of a token', () => {
  let client: RegisteredClient;
  beforeAll(async () => {
    const scopes = ['orders:read', 'users:read', 'posts:read', 'posts:write'];
    client = await system.register({ grantTypes: ['client_credentials'], scopes, owner: system.ada.id });
  });
  const tokenFor = async (scope: string) => {
    const { body } = await system.post('/oauth/token', { grant_type: 'client_credentials', scope }, client);
    return String(body['access_token']);
  };

  it.each([
    ['GET', '/v1/payments', 'payments:read'],
    ['POST', '/v1/orders', 'orders:write'],
    ['GET', '/v1/sessions', 'account:manage'],
    ['GET', '/v1/channels/chn_1/messages', 'messages:read'],
  ])('are required by a route before anything else of the request is read: %s %s', async (method, path, scope) => {
    const { status, headers, body } = await system.stack.call(method, path, { token: await tokenFor('orders:read') });
    expect([status, headers.get('www-authenticate')]).toEqual([403, `Bearer realm="api", error="insufficient_scope", scope="${scope}"`]);
    expect(body).toMatchObject({ error: { code: 'FORBIDDEN', message: expect.stringContaining(`\`${scope}\``) } });
  });

  it('decide whether it reads the own e-mail address; the rest of an account is public', async () => {
    const path = `/v1/users/${system.ada.id}`;
    const narrow = await tokenFor('orders:read');
    expect((await system.stack.call('GET', path, { token: narrow })).body).toMatchObject({ name: 'Ada', email: '***@masked.invalid' });
    expect((await system.stack.call('GET', path, { token: await tokenFor('users:read') })).body).toMatchObject({ email: system.ada.email });
    const { data, errors } = await system.stack.graphql('{ me { id email } }', { token: narrow });
    expect(data).toEqual({ me: { id: system.ada.id, email: '***@masked.invalid' } });
    expect(errors[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', masked: true });
  });

  it('decide whether it reads own drafts', async () => {
    const draft = { title: 'Not yet', body: '' };
    const { body } = await system.stack.call('POST', '/v1/posts', { token: await tokenFor('posts:write'), body: draft });
    const path = `/v1/posts/${(body as { id: string }).id}`;
    const statuses = [];
    for (const scope of ['posts:read', 'posts:write', 'orders:read users:read'])
      statuses.push((await system.stack.call('GET', path, { token: await tokenFor(scope) })).status);
    expect(statuses).toEqual([200, 200, 404]);
  });

  it('let it end itself, and nothing more, without account:manage', async () => {
    const [token, other] = [await tokenFor('orders:read'), await tokenFor('orders:read')];
    expect((await system.stack.call('POST', '/v1/auth/logout?everywhere=true', { token })).status).toBe(403);
    expect((await system.stack.call('POST', '/v1/auth/logout', { token })).status).toBe(204);
    expect((await system.stack.call('GET', '/v1/orders', { token })).status).toBe(401);
    expect((await system.stack.call('GET', '/v1/orders', { token: other })).status).toBe(200);
  });
});

describe('introspection', () => {
  it('describes a token to its own client', async () => {
    const config = await discover();
    const { access_token: token } = await openid.clientCredentialsGrant(config);
    expect(await openid.tokenIntrospection(config, token)).toMatchObject({
      active: true,
      client_id: machine.id,
      scope: 'users:read orders:read',
    });
  });

  it('says nothing of a token to another client', async () => {
    const other = await system.register({ grantTypes: ['client_credentials'], scopes: ['users:read'], owner: system.ada.id });
    const { access_token: token } = await openid.clientCredentialsGrant(await discover());
    const { body } = await system.post('/oauth/introspect', { token }, other);
    expect(body).toEqual({ active: false });
  });

  it.each(['nonsense', 'a.b.c', 'x'.repeat(20_000)])('calls a false token inactive', async (token) => {
    const { body } = await system.post('/oauth/introspect', { token }, machine);
    expect(body).toEqual({ active: false });
  });
});

describe('revocation', () => {
  it('ends a token at once at bridge, gateway and introspection', async () => {
    const config = await discover();
    const { access_token: token } = await openid.clientCredentialsGrant(config);
    await openid.tokenRevocation(config, token);
    expect((await openid.tokenIntrospection(config, token)).active).toBe(false);
    expect((await system.stack.call('GET', `/v1/users/${system.ada.id}`, { token })).status).toBe(401);
    const { errors } = await system.stack.graphql('{ me { id } }', { token });
    expect(errors[0]?.extensions['code']).toBe('UNAUTHORIZED');
  });

  it('does not end the token of another client', async () => {
    const other = await system.register({ grantTypes: ['client_credentials'], scopes: ['users:read'], owner: system.ada.id });
    const config = await discover();
    const { access_token: token } = await openid.clientCredentialsGrant(config);
    expect((await system.post('/oauth/revoke', { token }, other)).status).toBe(200);
    expect((await openid.tokenIntrospection(config, token)).active).toBe(true);
  });
});

describe('the errors of the bridge itself', () => {
  const form = { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }) };
  const json = { 'content-type': expect.stringContaining('application/json'), 'cache-control': 'no-store' };
  const startBridge = (env: Readonly<Record<string, string>>) => system.stack.startBridge({ TRUSTED_PROXIES: '127.0.0.1', ...env });
  const described = (error: string) => ({ error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/) });

  it('are errors of RFC 6749 at every endpoint that programs call, and those of the API at pages', async () => {
    const bridge = await startBridge({});
    for (const [path, init, status] of [
      ['/oauth/token', { method: 'GET' }, 405],
      ['/oauth/introspect', { method: 'GET', headers: { accept: 'application/problem+json' } }, 405],
      ['/oauth/revoke', { method: 'DELETE' }, 405],
      ['/oauth/userinfo', { method: 'PUT' }, 405],
      ['/oauth/jwks', { method: 'POST' }, 405],
      ['/.well-known/openid-configuration', { method: 'POST' }, 405],
      [`/oauth/device_authorization?x=${'x'.repeat(8192)}`, form, 414],
      ['/oauth/token', { method: 'POST', body: new URLSearchParams({ code: 'x'.repeat(70_000) }) }, 413],
    ] as const) {
      const response = await fetch(`${bridge.url}${path}`, init);
      expect([path.slice(0, 40), response.status, await response.json()]).toEqual([
        path.slice(0, 40),
        status,
        described('invalid_request'),
      ]);
      expect(Object.fromEntries(response.headers)).toMatchObject({ ...json, 'x-ratelimit-limit': expect.any(String) });
    }
    for (const path of ['/oauth/authorize', '/oauth/device', '/password-reset']) {
      const response = await fetch(`${bridge.url}${path}`, { method: 'DELETE' });
      expect(await response.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } });
    }
  });

  it('say that a request which cannot be read was not valid', async () => {
    const bridge = await startBridge({ REQUEST_TIMEOUT_MS: '1000' });
    const token = `${bridge.url}/oauth/token`;
    const broken = await sendRaw(token, { method: 'POST', headers: ['Expect', 'tea'] });
    const slow = await sendRaw(token, { method: 'POST', headers: ['Content-Length', '5'] });
    expect([broken.status, slow.status]).toEqual([400, 408]);
    for (const { text, headers } of [broken, slow]) {
      expect(JSON.parse(text)).toEqual(described('invalid_request'));
      expect(headers).toMatchObject({ ...json, 'x-ratelimit-limit': expect.any(String) });
    }
  });

  it('say that the server cannot answer now, in maintenance and without the subgraph that it is in', async () => {
    const maintained = await startBridge({ MAINTENANCE_FILE: fileURLToPath(import.meta.url) });
    const refused = await fetch(`${maintained.url}/oauth/token`, form);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '120']);
    expect(await refused.json()).toEqual(described('temporarily_unavailable'));
    const alone = await startBridge({ USERS_URL: 'http://127.0.0.1:9' });
    const failed = await fetch(`${alone.url}/oauth/token`, form);
    expect([failed.status, await failed.json()]).toEqual([502, described('server_error')]);
  });

  it('are read by openid-client and oauth4webapi beyond the limit, and let a device go on', async () => {
    // It counts alone: with Redis the requests of the other tests would count too.
    const { url } = await startBridge({ RATE_LIMIT_ANONYMOUS_PER_MIN: '1', REDIS_URL: '' });
    expect((await fetch(`${url}/oauth/token`, form)).status).toBe(400);
    const server = { issuer: system.issuer, token_endpoint: `${url}/oauth/token` };
    const config = new openid.Configuration(server, machine.id, undefined, openid.ClientSecretPost(machine.secret));
    allowLoopbackIn(config);
    const error: unknown = await openid.clientCredentialsGrant(config).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(openid.ResponseBodyError);
    const { error: name, status, response } = error as openid.ResponseBodyError;
    expect([name, status, response.headers.get('retry-after')]).toEqual(['temporarily_unavailable', 429, expect.stringMatching(/^\d+$/)]);
    const client = { client_id: machine.id };
    const polled = await oauth.deviceCodeGrantRequest(server, client, oauth.None(), 'code', insecure);
    expect([polled.status, polled.headers.get('x-ratelimit-remaining')]).toEqual([429, '0']);
    await expect(oauth.processDeviceCodeResponse(server, client, polled)).rejects.toMatchObject({ error: 'slow_down', status: 429 });
  });
});
