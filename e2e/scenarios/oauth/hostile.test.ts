/** Attacks on the authorization server (RFC 9700 §4): each is refused, and nothing is given away. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { FormBrowser } from './form-browser.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

let system: OAuthSystem;
let app: RegisteredClient;
let other: RegisteredClient;
let browser: FormBrowser;

const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

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

const addressOf = (changes: Readonly<Record<string, string | undefined>> = {}) => {
  const parameters: Readonly<Record<string, string | undefined>> = {
    ...{ client_id: app.id, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid orders:read', state: 'a state' },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    ...changes,
  };
  const given = Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined);
  return `/oauth/authorize?${new URLSearchParams(given).toString()}`;
};
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

describe('the pages', () => {
  it('are refused in frames, load no script, and are not stored', async () => {
    await browser.open(addressOf());
    const { headers, html } = browser.page ?? { headers: new Headers(), html: '' };
    expect(headers.get('x-frame-options')).toBe('DENY');
    expect(headers.get('cache-control')).toBe('no-store');
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(html).not.toMatch(/<script|\sstyle=|\son\w+=/);
  });

  it('refuse a consent that another site sends', async () => {
    await browser.open(addressOf());
    await browser.submit({ ...system.ada, action: 'login' });
    const consent = browser.page;
    const foreign: Readonly<Record<string, string>>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }];
    for (const headers of foreign) {
      expect((await browser.submit({ action: 'approve' }, headers)).status).toBe(403);
      browser.page = consent;
    }
    for (const csrf of ['', 'x'.repeat(43)]) {
      expect((await browser.submit({ action: 'approve', csrf })).status).toBe(403);
      browser.page = consent;
    }
    expect(new URL((await browser.submit({ action: 'approve' })).url).searchParams.get('code')).toEqual(expect.any(String));
  });

  it('refuse a stolen cookie of the interaction without the session of its browser', async () => {
    const first = new FormBrowser(system.issuer);
    await first.approve(addressOf(), system.ada);
    await first.open(addressOf({ prompt: 'consent' }));
    expect(first.page?.html).toContain('value="approve"');
    browser.steal(first, 'interaction');
    browser.page = first.page;
    const { status, html, url } = await browser.submit({ action: 'approve' });
    expect({ status, isError: html.includes('This did not work') }).toEqual({ status: 400, isError: true });
    expect(url).not.toContain('code=');
  });

  it('refuse a cookie that was changed', async () => {
    await browser.open(addressOf());
    const path = new URL(browser.page?.url ?? '').pathname;
    const cookie = browser.cookiesFor(path).replace(/interaction=[^;]{4}/, 'interaction=AAAA');
    const response = await fetch(`${system.issuer}${path}`, { headers: { cookie } });
    expect(response.status).toBe(400);
  });

  it('say the same of an unknown account and a wrong password', async () => {
    const texts: string[] = [];
    for (const email of [system.ada.email, 'nobody@example.org']) {
      await browser.open(addressOf());
      const { status, html } = await browser.submit({ email, password: 'wrong', action: 'login' });
      expect(status).toBe(422);
      texts.push(/role="alert">([^<]*)/.exec(html)?.[1] ?? '');
    }
    expect(texts[0]).not.toBe('');
    expect(texts[0]).toBe(texts[1]);
  });

  it('answer 429 after ten wrong passwords, for the right one too, as every login does', async () => {
    await system.stack.sql('users', 'DELETE FROM failed_attempts');
    await browser.open(addressOf());
    const { ada } = system;
    for (let i = 0; i < 10; i++) expect((await browser.submit({ email: ada.email, password: 'wrong', action: 'login' })).status).toBe(422);
    await system.stack.sql('users', `UPDATE failed_attempts SET "blockedUntil" = clock_timestamp() + interval '100 seconds'`);
    const { status, headers, html } = await browser.submit({ ...ada, action: 'login' });
    expect({ status, isLong: Number(headers.get('retry-after')) > 90 }).toEqual({ status: 429, isLong: true });
    expect(html).toContain('Too many attempts have failed. Retry after');
    await system.stack.sql('users', 'DELETE FROM failed_attempts');
  });

  it('escape what a client or a person wrote', async () => {
    await browser.open(addressOf({ login_hint: '"><img src=x onerror=alert(1)>' }));
    expect(browser.page?.html).not.toContain('<img');
    const { html } = await browser.open('/oauth/device?user_code="><img src=x>');
    expect(html).not.toContain('<img');
  });

  it('return access_denied to the client when the person denies it', async () => {
    await browser.open(addressOf());
    await browser.submit({ ...system.ada, action: 'login' });
    const { url } = await browser.submit({ action: 'deny' });
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({ error: 'access_denied', state: 'a state', iss: system.issuer });
  });
});

describe('the bridge', () => {
  it('sets the public address itself, whatever a client says', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' };
    const text = await (await fetch(`${system.issuer}/.well-known/openid-configuration`, { headers })).text();
    expect(text).not.toContain('evil.example');
    const { headers: answered } = await fetch(`${system.issuer}${addressOf()}`, { headers, redirect: 'manual' });
    expect(answered.get('location')).not.toContain('evil');
  });

  it.each(['/oauth/', '/oauth/nothing', '/oauth/authorize/../../graphql', '/oauth/interaction/', '/oauth/reg', '/graphql'])(
    'passes nothing else on: %s',
    async (path) => {
      const { status, body } = await system.stack.call('GET', path);
      expect({ status, code: (body as { error?: { code?: string } } | undefined)?.error?.code }).toEqual({
        status: 404,
        code: 'NOT_FOUND',
      });
    },
  );

  it('answers 405 with the allowed methods, as on every other path', async () => {
    for (const [path, method, allow] of [
      ['/oauth/token', 'GET', 'POST, OPTIONS'],
      ['/oauth/jwks', 'POST', 'GET, HEAD, OPTIONS'],
      ['/oauth/userinfo', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
    ] as const) {
      const refused = await fetch(`${system.issuer}${path}`, { method });
      expect([path, refused.status, refused.headers.get('allow')]).toEqual([path, 405, allow]);
      const asked = await fetch(`${system.issuer}${path}`, { method: 'OPTIONS' });
      expect([asked.status, asked.headers.get('allow')]).toEqual([200, allow]);
    }
  });

  it('sends the headers of security and the request id with every response of the authorization server', async () => {
    const id = '4a1f8a52-7b0e-4d3c-9f64-2f1b6f1c9a10';
    for (const path of ['/.well-known/openid-configuration', '/oauth/jwks', '/oauth/device', '/oauth/authorize', '/oauth/token']) {
      const { headers } = await fetch(`${system.issuer}${path}`, { headers: { 'x-request-id': id } });
      expect([path, headers.get('x-request-id')]).toEqual([path, id]);
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    }
  });

  it('refuses a body of more than 64 KiB', async () => {
    const response = await fetch(`${system.issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'x'.repeat(70_000) }),
    });
    expect(response.status).toBe(413);
  });

  it.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/device_authorization'])(
    'gets a 4xx from %s for a body that is no form',
    async (path) => {
      const bodies: RequestInit[] = [
        { body: '{"grant_type":"client_credentials"}', headers: { 'content-type': 'application/json' } },
        { body: 'token=%E0%A4%A&token=b&client_id[]=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        {},
      ];
      for (const init of bodies) {
        const { status } = await fetch(`${system.issuer}${path}`, { method: 'POST', ...init });
        expect(Math.floor(status / 100)).toBe(4);
      }
    },
  );
});
