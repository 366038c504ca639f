/** Modules about discovery, tokens and claims. */
import { expect } from '@jest/globals';
import * as openid from 'openid-client';
import { VERIFIER } from './authorization-request.ts';
import { CALLBACK, type Module, claimsOf } from './conformance-client.ts';
import { allowLoopback } from './real-clients.ts';

export const TOKEN_MODULES: readonly Module[] = [
  {
    name: 'oidcc-discovery-endpoint-verification',
    checks: 'the discovery document has every required member, with addresses of the issuer',
    deviation: 'ID tokens are signed with ES256 alone; RS256, which OpenID Connect requires, is not offered',
    run: async ({ discover, system }) => {
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
    run: async ({ addressOf, browser, system, web }) => {
      const execute = [allowLoopback, openid.enableNonRepudiationChecks];
      const config = await openid.discovery(new URL(system.issuer), web.id, web.secret, undefined, { execute });
      const returned = await browser.approve(addressOf(), system.ada);
      const checks = { pkceCodeVerifier: VERIFIER, expectedState: 'a state', expectedNonce: 'a nonce', idTokenExpected: true };
      const tokens = await openid.authorizationCodeGrant(config, returned, checks);
      expect(tokens.claims()).toMatchObject({ iss: system.issuer, sub: system.ada.id, aud: web.id, nonce: 'a nonce' });
    },
  },
  {
    name: 'oidcc-idtoken-signature',
    checks: 'the ID token names a published key and has the required claims',
    run: async ({ logIn, system, web }) => {
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
    run: async ({ logIn, userinfo }) => {
      const { token, claims } = await logIn();
      expect(await userinfo(token)).toEqual({ status: 200, claims: { sub: claims['sub'] } });
    },
  },
  {
    name: 'oidcc-userinfo-post-header',
    checks: 'userinfo by POST with the token in the header',
    run: async ({ logIn, userinfo }) => {
      const { token } = await logIn();
      expect((await userinfo(token, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).status).toBe(200);
    },
  },
  {
    name: 'oidcc-userinfo-post-body',
    checks: 'userinfo by POST with the token in the body',
    run: async ({ logIn, userinfo }) => {
      const { token } = await logIn();
      expect((await userinfo(token, { method: 'POST', body: new URLSearchParams({ access_token: token }) })).status).toBe(200);
    },
  },
  {
    name: 'oidcc-scope-profile',
    checks: '`profile` gives at userinfo those of its claims that accounts have, which discovery lists: `name`, `updated_at`',
    run: async ({ discover, logIn, system, userinfo }) => {
      const { token } = await logIn({ scope: 'openid profile' });
      const claims = { sub: system.ada.id, name: 'Ada', updated_at: expect.any(Number) };
      expect((await userinfo(token)).claims).toEqual(claims);
      expect((await discover())['claims_supported']).toEqual(expect.arrayContaining(['name', 'updated_at']));
    },
  },
  {
    name: 'oidcc-scope-email',
    checks: '`email` gives its claims at userinfo',
    run: async ({ logIn, system, userinfo }) => {
      const { token } = await logIn({ scope: 'openid email' });
      expect((await userinfo(token)).claims).toEqual({ sub: system.ada.id, email: system.ada.email, email_verified: false });
    },
  },
  {
    name: 'oidcc-scope-address, oidcc-scope-phone',
    checks: '`address` and `phone` give their claims at userinfo',
    optional: 'not offered: accounts have neither; the request succeeds without them',
    run: async ({ logIn, system, userinfo }) => {
      const { token } = await logIn({ scope: 'openid address phone' });
      expect((await userinfo(token)).claims).toEqual({ sub: system.ada.id });
    },
  },
  {
    name: 'oidcc-scope-all',
    checks: 'all scopes at once give all claims',
    run: async ({ logIn, system, userinfo }) => {
      const { token } = await logIn({ scope: 'openid profile email' });
      expect((await userinfo(token)).claims).toMatchObject({ name: 'Ada', email: system.ada.email });
    },
  },
  {
    name: 'oidcc-codereuse',
    checks: 'a code used twice is refused, and its tokens are revoked',
    run: async ({ authorize, redeem, userinfo }) => {
      const code = (await authorize()).get('code');
      const { body } = await redeem(code);
      expect((await redeem(code)).body['error']).toBe('invalid_grant');
      expect((await userinfo(String(body['access_token']))).status).toBe(401);
    },
  },
  {
    name: 'oidcc-server-client-secret-post',
    checks: 'the client may send its secret in the body',
    run: async ({ authorize, system, web }) => {
      const code = (await authorize()).get('code') ?? '';
      const fields = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
      const { status } = await system.post('/oauth/token', { ...fields, client_id: web.id, client_secret: web.secret });
      expect(status).toBe(200);
    },
  },
  {
    name: 'oidcc-claims-essential',
    checks: 'the parameter `claims` asks for single claims',
    optional: 'not offered, as the discovery document says; the request succeeds without them',
    run: async ({ discover, logIn, userinfo }) => {
      expect((await discover())['claims_parameter_supported']).toBe(false);
      const { token } = await logIn({ claims: '{"userinfo":{"name":{"essential":true}}}' });
      expect((await userinfo(token)).claims).not.toHaveProperty('name');
    },
  },
  {
    name: 'oidcc-refresh-token',
    checks: 'a refresh gives new tokens for the same account, and a used refresh token ends the grant',
    run: async ({ logIn, system, userinfo, web }) => {
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
    run: async ({ addressOf, authorize, browser, discover, redeem, succeedsWith }) => {
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
