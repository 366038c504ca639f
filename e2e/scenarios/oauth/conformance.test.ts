/**
 * The test modules of the OpenID Foundation's basic certification plan that can be scripted, by their names there. `docs/oauth-conformance.md` lists
 * what they gave; `UPDATE_DOCUMENTS=1` writes it again.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import * as openid from 'openid-client';
import { until } from '../../stack/client.ts';
import { FormBrowser } from './form-browser.ts';
import { type FormReply, type OAuthSystem, type RegisteredClient, startOAuthSystem } from './oauth-system.ts';
import { allowLoopback } from './real-clients.ts';

const DOCUMENT = fileURLToPath(new URL('../../../docs/oauth-conformance.md', import.meta.url));
/** With https the client is a web application: people allow it once. Nothing listens there. */
const CALLBACK = 'https://client.example/callback';
const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

let system: OAuthSystem;
let web: RegisteredClient;
let browser: FormBrowser;

beforeAll(async () => {
  system = await startOAuthSystem();
  const scopes = ['openid', 'profile', 'email', 'offline_access', 'orders:read'];
  web = await system.register({
    ...{ grantTypes: ['authorization_code', 'refresh_token'], scopes, redirectUris: [CALLBACK], owner: system.ada.id },
  });
});
afterAll(() => system.stop());
beforeEach(() => {
  browser = new FormBrowser(system.issuer);
});

type Parameters = Readonly<Record<string, string | undefined>>;

function parametersOf(changes: Parameters = {}): URLSearchParams {
  const parameters: Parameters = {
    ...{ client_id: web.id, redirect_uri: CALLBACK, response_type: 'code', scope: 'openid', state: 'a state', nonce: 'a nonce' },
    ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256' },
    ...changes,
  };
  return new URLSearchParams(Object.entries(parameters).filter((each): each is [string, string] => each[1] !== undefined));
}
const addressOf = (changes?: Parameters) => `/oauth/authorize?${parametersOf(changes).toString()}`;

/** Logs in where that is asked for, and returns the parameters of the redirect to the client. */
const authorize = async (changes?: Parameters) => (await browser.approve(addressOf(changes), system.ada)).searchParams;
const redeem = (code: string | null, changes: Record<string, string> = {}): Promise<FormReply> => {
  const fields = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: CALLBACK, code_verifier: VERIFIER };
  return system.post('/oauth/token', { ...fields, ...changes }, web);
};
/** Runs the whole flow. */
async function logIn(changes?: Parameters) {
  const returned = await authorize(changes);
  expect([returned.get('state'), returned.get('iss')]).toEqual(['a state', system.issuer]);
  const { status, body } = await redeem(returned.get('code'));
  expect(status).toBe(200);
  return { body, token: String(body['access_token']), idToken: String(body['id_token']), claims: claimsOf(String(body['id_token'])) };
}
const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Readonly<Record<string, unknown>>;
const userinfo = async (token: string, init: RequestInit = { headers: { authorization: `Bearer ${token}` } }) => {
  const response = await fetch(`${system.issuer}/oauth/userinfo`, init);
  return { status: response.status, claims: (await response.json()) as Readonly<Record<string, unknown>> };
};
const discover = async () =>
  (await (await fetch(`${system.issuer}/.well-known/openid-configuration`)).json()) as Readonly<Record<string, unknown>>;
const asksForPassword = () => browser.page?.html.includes('name="password"') === true;
const succeedsWith = async (changes: Parameters) => {
  expect((await logIn(changes)).claims).toMatchObject({ sub: system.ada.id });
};

/** A module: what it checks, and what this server does otherwise, if anything. */
interface Module {
  readonly name: string;
  readonly checks: string;
  readonly deviation?: string;
  readonly run: () => Promise<void>;
}

const MODULES: readonly Module[] = [
  {
    name: 'oidcc-discovery-endpoint-verification',
    checks: 'the discovery document has every required member, with addresses of the issuer',
    deviation: 'ID tokens are signed with ES256; RS256, which OpenID Connect Discovery requires, is not offered',
    run: async () => {
      const found = await discover();
      expect(found['issuer']).toBe(system.issuer);
      for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint', 'end_session_endpoint'])
        expect(found[name]).toEqual(expect.stringContaining(`${system.issuer}/oauth/`));
      expect(found).toMatchObject({ response_types_supported: ['code'], subject_types_supported: ['public'] });
      expect(found['id_token_signing_alg_values_supported']).toEqual(['ES256']);
      expect(found['scopes_supported']).toEqual(expect.arrayContaining(['openid', 'profile', 'email']));
    },
  },
  {
    name: 'oidcc-server',
    checks: 'the code flow with state, nonce and PKCE; openid-client verifies the ID token',
    run: async () => {
      const execute = [allowLoopback, openid.enableNonRepudiationChecks];
      const config = await openid.discovery(new URL(system.issuer), web.id, web.secret, undefined, { execute });
      const returned = await browser.approve(addressOf(), system.ada);
      const checks = { pkceCodeVerifier: VERIFIER, expectedState: 'a state', expectedNonce: 'a nonce', idTokenExpected: true };
      const tokens = await openid.authorizationCodeGrant(config, returned, checks);
      expect(tokens.claims()).toMatchObject({ iss: system.issuer, sub: system.ada.id, aud: web.id, nonce: 'a nonce' });
    },
  },
  {
    name: 'oidcc-response-type-missing',
    checks: 'a request without `response_type` is refused',
    run: async () => {
      const { status, url } = await browser.open(addressOf({ response_type: undefined }));
      expect([status, new URL(url).searchParams.get('error')]).toEqual([303, 'invalid_request']);
    },
  },
  {
    name: 'oidcc-idtoken-signature',
    checks: 'the ID token names a published key and has the required claims',
    run: async () => {
      const { idToken, claims } = await logIn();
      const header = JSON.parse(Buffer.from(idToken.split('.')[0] ?? '', 'base64url').toString()) as Record<string, unknown>;
      const { keys } = (await (await fetch(`${system.issuer}/oauth/jwks`)).json()) as { keys: { kid: string }[] };
      expect(header).toMatchObject({ alg: 'ES256', kid: keys[0]?.kid });
      expect(claims).toMatchObject({ iss: system.issuer, aud: web.id, exp: expect.any(Number), iat: expect.any(Number) });
    },
  },
  {
    name: 'oidcc-userinfo-get',
    checks: 'userinfo by GET with the token in the header; `sub` is that of the ID token',
    run: async () => {
      const { token, claims } = await logIn();
      expect(await userinfo(token)).toEqual({ status: 200, claims: { sub: claims['sub'] } });
    },
  },
  {
    name: 'oidcc-userinfo-post-header',
    checks: 'userinfo by POST with the token in the header',
    run: async () => {
      const { token } = await logIn();
      expect((await userinfo(token, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    },
  },
  {
    name: 'oidcc-userinfo-post-body',
    checks: 'userinfo by POST with the token in the body',
    run: async () => {
      const { token } = await logIn();
      expect((await userinfo(token, { method: 'POST', body: new URLSearchParams({ access_token: token }) })).status).toBe(200);
    },
  },
  {
    name: 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
    checks: 'a request without `nonce` succeeds, and the ID token has none',
    run: async () => {
      expect((await logIn({ nonce: undefined })).claims).not.toHaveProperty('nonce');
    },
  },
  {
    name: 'oidcc-scope-profile',
    checks: '`profile` gives its claims at userinfo',
    deviation: 'only `name` and `updated_at` exist',
    run: async () => {
      const { token } = await logIn({ scope: 'openid profile' });
      const claims = { sub: system.ada.id, name: 'Ada', updated_at: expect.any(Number) };
      expect((await userinfo(token)).claims).toEqual(claims);
    },
  },
  {
    name: 'oidcc-scope-email',
    checks: '`email` gives its claims at userinfo',
    deviation: 'no `email_verified`: addresses are not verified',
    run: async () => {
      const { token } = await logIn({ scope: 'openid email' });
      expect((await userinfo(token)).claims).toEqual({ sub: system.ada.id, email: system.ada.email });
    },
  },
  {
    name: 'oidcc-scope-address, oidcc-scope-phone',
    checks: '`address` and `phone` give their claims at userinfo',
    deviation: 'not offered: accounts have neither; the request succeeds without them',
    run: async () => {
      const { token } = await logIn({ scope: 'openid address phone' });
      expect((await userinfo(token)).claims).toEqual({ sub: system.ada.id });
    },
  },
  {
    name: 'oidcc-scope-all',
    checks: 'all scopes at once give all claims',
    run: async () => {
      const { token } = await logIn({ scope: 'openid profile email' });
      expect((await userinfo(token)).claims).toMatchObject({ name: 'Ada', email: system.ada.email });
    },
  },
  {
    name: 'oidcc-ensure-other-scope-order-succeeds',
    checks: '`openid` need not be the first scope',
    run: () => succeedsWith({ scope: 'email openid' }),
  },
  { name: 'oidcc-display-page', checks: '`display=page` succeeds', run: () => succeedsWith({ display: 'page' }) },
  { name: 'oidcc-display-popup', checks: '`display=popup` succeeds', run: () => succeedsWith({ display: 'popup' }) },
  {
    name: 'oidcc-prompt-login',
    checks: '`prompt=login` asks for the password again',
    run: async () => {
      await logIn();
      await browser.open(addressOf({ prompt: 'login' }));
      expect(asksForPassword()).toBe(true);
      await succeedsWith({ prompt: 'login' });
    },
  },
  {
    name: 'oidcc-prompt-none-not-logged-in',
    checks: '`prompt=none` without a login gives `login_required`',
    run: async () => {
      const { url } = await browser.open(addressOf({ prompt: 'none' }));
      expect(new URL(url).searchParams.get('error')).toBe('login_required');
    },
  },
  {
    name: 'oidcc-prompt-none-logged-in',
    checks: '`prompt=none` after a login gives a code without a page',
    run: async () => {
      await logIn();
      const { url } = await browser.open(addressOf({ prompt: 'none' }));
      expect((await redeem(new URL(url).searchParams.get('code'))).status).toBe(200);
    },
  },
  {
    name: 'oidcc-max-age-1',
    checks: '`max_age=1` asks for the password when the login is older, and `auth_time` is that of the new login',
    run: async () => {
      await logIn();
      await until(async () => {
        await browser.open(addressOf({ max_age: '1' }));
        return asksForPassword();
      });
      await browser.submit({ ...system.ada, action: 'login' });
      const { body } = await redeem(new URL(browser.page?.url ?? '').searchParams.get('code'));
      const { auth_time: time } = claimsOf(String(body['id_token']));
      expect(Math.abs(Number(time) - Date.now() / 1000)).toBeLessThan(30);
    },
  },
  {
    name: 'oidcc-max-age-10000',
    checks: '`max_age=10000` does not ask again, and the ID token has `auth_time`',
    run: async () => {
      await logIn();
      await browser.open(addressOf({ max_age: '10000' }));
      expect(asksForPassword()).toBe(false);
      expect((await logIn({ max_age: '10000' })).claims).toMatchObject({ auth_time: expect.any(Number) });
    },
  },
  {
    name: 'oidcc-ensure-request-with-unknown-parameter-succeeds',
    checks: 'unknown parameters are ignored',
    run: () => succeedsWith({ extra: 'foobar' }),
  },
  {
    name: 'oidcc-id-token-hint',
    checks: '`id_token_hint` with `prompt=none` gives the same account',
    run: async () => {
      const { idToken } = await logIn();
      await succeedsWith({ prompt: 'none', id_token_hint: idToken });
    },
  },
  {
    name: 'oidcc-login-hint',
    checks: '`login_hint` fills in the e-mail address',
    run: async () => {
      const { html } = await browser.open(addressOf({ login_hint: 'bob@example.org' }));
      expect(html).toContain('value="bob@example.org"');
    },
  },
  { name: 'oidcc-ui-locales', checks: '`ui_locales` succeeds', run: () => succeedsWith({ ui_locales: 'se' }) },
  { name: 'oidcc-claims-locales', checks: '`claims_locales` succeeds', run: () => succeedsWith({ claims_locales: 'se' }) },
  {
    name: 'oidcc-ensure-request-with-acr-values-succeeds',
    checks: '`acr_values` succeeds',
    run: () => succeedsWith({ acr_values: '1 2' }),
  },
  {
    name: 'oidcc-codereuse',
    checks: 'a code used twice is refused, and its tokens are revoked',
    run: async () => {
      const code = (await authorize()).get('code');
      const { body } = await redeem(code);
      expect((await redeem(code)).body['error']).toBe('invalid_grant');
      expect((await userinfo(String(body['access_token']))).status).toBe(401);
    },
  },
  {
    name: 'oidcc-ensure-registered-redirect-uri',
    checks: 'an address that is not registered gets no redirect',
    run: async () => {
      const { status, url } = await browser.open(addressOf({ redirect_uri: `${CALLBACK}/other` }));
      expect([status, new URL(url).origin]).toEqual([400, system.issuer]);
    },
  },
  {
    name: 'oidcc-ensure-post-request-succeeds',
    checks: 'the authorization request may be a POST',
    deviation: 'not offered (405): forms of other sites would need cookies with `SameSite=None`',
    run: async () => {
      const { status, headers } = await browser.open('/oauth/authorize', { method: 'POST', body: parametersOf() });
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
    },
  },
  {
    name: 'oidcc-server-client-secret-post',
    checks: 'the client may send its secret in the body',
    run: async () => {
      const code = (await authorize()).get('code') ?? '';
      const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
      const { status } = await system.post('/oauth/token', { ...fields, client_id: web.id, client_secret: web.secret });
      expect(status).toBe(200);
    },
  },
  {
    name: 'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
    checks: '`request_uri` is refused with the right error',
    run: async () => {
      const { url, status } = await browser.open(addressOf({ request_uri: 'https://client.example/request' }));
      expect([status, new URL(url).searchParams.get('error')]).toEqual([303, 'request_uri_not_supported']);
    },
  },
  {
    name: 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    checks: '`request` is refused with the right error',
    run: async () => {
      const { url, status } = await browser.open(addressOf({ request: 'eyJhbGciOiJub25lIn0.e30.' }));
      expect([status, new URL(url).searchParams.get('error')]).toEqual([303, 'request_not_supported']);
    },
  },
  {
    name: 'oidcc-claims-essential',
    checks: 'the parameter `claims` asks for single claims',
    deviation: 'not offered, as the discovery document says; the request succeeds without them',
    run: async () => {
      expect((await discover())['claims_parameter_supported']).toBe(false);
      const { token } = await logIn({ claims: '{"userinfo":{"name":{"essential":true}}}' });
      expect((await userinfo(token)).claims).not.toHaveProperty('name');
    },
  },
  {
    name: 'oidcc-refresh-token',
    checks: 'a refresh gives new tokens for the same account, and a used refresh token ends the grant',
    run: async () => {
      const { body, claims } = await logIn({ scope: 'openid offline_access', prompt: 'consent' });
      const refresh = { grant_type: 'refresh_token', refresh_token: String(body['refresh_token']) };
      const { body: refreshed } = await system.post('/oauth/token', refresh, web);
      expect(claimsOf(String(refreshed['id_token']))).toMatchObject({ iss: claims['iss'], sub: claims['sub'], aud: claims['aud'] });
      expect(refreshed['access_token']).not.toBe(body['access_token']);
      expect((await system.post('/oauth/token', refresh, web)).body['error']).toBe('invalid_grant');
      expect((await userinfo(String(refreshed['access_token']))).status).toBe(401);
    },
  },
  {
    name: 'oidcc-ensure-request-with-valid-pkce-succeeds',
    checks: 'PKCE with S256 succeeds; none, `plain` and a wrong verifier are refused',
    run: async () => {
      const { code_challenge_methods_supported: methods } = await discover();
      expect(methods).toEqual(['S256']);
      for (const changes of [{ code_challenge: undefined, code_challenge_method: undefined }, { code_challenge_method: 'plain' }]) {
        const { url } = await browser.open(addressOf(changes));
        expect(new URL(url).searchParams.get('error')).toBe('invalid_request');
      }
      const code = (await authorize()).get('code');
      expect((await redeem(code, { code_verifier: 'w'.repeat(43) })).body['error']).toBe('invalid_grant');
      await succeedsWith({});
    },
  },
];

describe('the basic certification plan of OpenID Connect', () => {
  it.each(MODULES.map((module) => [module.name, module] as const))('%s', async (_, { run }) => {
    await run();
  });

  it('is listed in docs/oauth-conformance.md', () => {
    const rows = MODULES.map(({ name, checks, deviation }) => [
      name
        .split(', ')
        .map((each) => `\`${each}\``)
        .join(', '),
      checks,
      deviation === undefined ? 'passes' : `differs: ${deviation}`,
    ]);
    const table = [['module', 'checks', 'result'], ['---', '---', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
    const text = readFileSync(DOCUMENT, 'utf8');
    const head = text.slice(0, text.indexOf('| module'));
    if (process.env['UPDATE_DOCUMENTS'] === '1') writeFileSync(DOCUMENT, `${head}${table}\n`);
    expect(normalize(readFileSync(DOCUMENT, 'utf8'))).toBe(normalize(`${head}${table}\n`));
  });
});

/** Without what the formatter adds to tables. */
function normalize(text: string): string {
  return text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
}
