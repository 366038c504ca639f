/** Modules about the authorization request: its parameters, its errors, and what the person is asked. */
import { expect } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { CALLBACK, type Module, claimsOf } from './conformance-client.ts';

export const REQUEST_MODULES: readonly Module[] = [
  {
    name: 'oidcc-response-type-missing',
    checks: 'a request without `response_type` is refused',
    run: async ({ addressOf, browser }) => {
      const { status, url } = await browser.open(addressOf({ response_type: undefined }));
      expect([status, new URL(url).searchParams.get('error')]).toEqual([303, 'invalid_request']);
    },
  },
  {
    name: 'oidcc-ensure-request-without-nonce-succeeds-for-code-flow',
    checks: 'a request without `nonce` succeeds, and the ID token has none',
    run: async ({ logIn }) => {
      expect((await logIn({ nonce: undefined })).claims).not.toHaveProperty('nonce');
    },
  },
  {
    name: 'oidcc-ensure-other-scope-order-succeeds',
    checks: '`openid` need not be the first scope',
    run: ({ succeedsWith }) => succeedsWith({ scope: 'email openid' }),
  },
  { name: 'oidcc-display-page', checks: '`display=page` succeeds', run: ({ succeedsWith }) => succeedsWith({ display: 'page' }) },
  { name: 'oidcc-display-popup', checks: '`display=popup` succeeds', run: ({ succeedsWith }) => succeedsWith({ display: 'popup' }) },
  {
    name: 'oidcc-prompt-login',
    checks: '`prompt=login` asks for the password again',
    run: async ({ addressOf, asksForPassword, browser, logIn, succeedsWith }) => {
      await logIn();
      await browser.open(addressOf({ prompt: 'login' }));
      expect(asksForPassword()).toBe(true);
      await succeedsWith({ prompt: 'login' });
    },
  },
  {
    name: 'oidcc-prompt-none-not-logged-in',
    checks: '`prompt=none` without a login gives `login_required`',
    run: async ({ addressOf, browser }) => {
      const { url } = await browser.open(addressOf({ prompt: 'none' }));
      expect(new URL(url).searchParams.get('error')).toBe('login_required');
    },
  },
  {
    name: 'oidcc-prompt-none-logged-in',
    checks: '`prompt=none` after a login gives a code without a page',
    run: async ({ addressOf, browser, logIn, redeem }) => {
      await logIn();
      const { url } = await browser.open(addressOf({ prompt: 'none' }));
      expect((await redeem(new URL(url).searchParams.get('code'))).status).toBe(200);
    },
  },
  {
    name: 'oidcc-max-age-1',
    checks: '`max_age=1` asks for the password when the login is older, and `auth_time` is that of the new login',
    run: async ({ addressOf, asksForPassword, browser, logIn, redeem, system }) => {
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
    run: async ({ addressOf, asksForPassword, browser, logIn }) => {
      await logIn();
      await browser.open(addressOf({ max_age: '10000' }));
      expect(asksForPassword()).toBe(false);
      expect((await logIn({ max_age: '10000' })).claims).toMatchObject({ auth_time: expect.any(Number) });
    },
  },
  {
    name: 'oidcc-ensure-request-with-unknown-parameter-succeeds',
    checks: 'unknown parameters are ignored',
    run: ({ succeedsWith }) => succeedsWith({ extra: 'foobar' }),
  },
  {
    name: 'oidcc-id-token-hint',
    checks: '`id_token_hint` with `prompt=none` gives the same account',
    run: async ({ logIn, succeedsWith }) => {
      const { idToken } = await logIn();
      await succeedsWith({ prompt: 'none', id_token_hint: idToken });
    },
  },
  {
    name: 'oidcc-login-hint',
    checks: '`login_hint` fills in the e-mail address',
    run: async ({ addressOf, browser }) => {
      const { html } = await browser.open(addressOf({ login_hint: 'bob@example.org' }));
      expect(html).toContain('value="bob@example.org"');
    },
  },
  { name: 'oidcc-ui-locales', checks: '`ui_locales` succeeds', run: ({ succeedsWith }) => succeedsWith({ ui_locales: 'se' }) },
  { name: 'oidcc-claims-locales', checks: '`claims_locales` succeeds', run: ({ succeedsWith }) => succeedsWith({ claims_locales: 'se' }) },
  {
    name: 'oidcc-ensure-request-with-acr-values-succeeds',
    checks: '`acr_values` succeeds',
    run: ({ succeedsWith }) => succeedsWith({ acr_values: '1 2' }),
  },
  {
    name: 'oidcc-ensure-registered-redirect-uri',
    checks: 'an address that is not registered gets no redirect',
    run: async ({ addressOf, browser, system }) => {
      const { status, url } = await browser.open(addressOf({ redirect_uri: `${CALLBACK}/other` }));
      expect([status, new URL(url).origin]).toEqual([400, system.issuer]);
    },
  },
  {
    name: 'oidcc-ensure-post-request-succeeds',
    checks: 'the authorization request may be a POST',
    run: async ({ browser, parametersOf, redeem, system }) => {
      await browser.open('/oauth/authorize', { method: 'POST', body: parametersOf(), headers: { origin: 'https://client.example' } });
      expect(new URL(browser.page?.url ?? '').pathname).toContain('/oauth/interaction/');
      await browser.submit({ email: system.ada.email, password: system.ada.password, action: 'login' });
      const { searchParams } = new URL((await browser.submit({ action: 'approve' })).url);
      expect(searchParams.get('state')).toBe('a state');
      expect((await redeem(searchParams.get('code'))).status).toBe(200);
    },
  },
  {
    name: 'oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported',
    checks: '`request_uri` is refused with the right error',
    run: async ({ addressOf, browser }) => {
      const { url, status } = await browser.open(addressOf({ request_uri: 'https://client.example/request' }));
      expect([status, new URL(url).searchParams.get('error')]).toEqual([303, 'request_uri_not_supported']);
    },
  },
  {
    name: 'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported',
    checks: '`request` is refused with the right error',
    run: async ({ addressOf, browser }) => {
      const { url, status } = await browser.open(addressOf({ request: 'eyJhbGciOiJub25lIn0.e30.' }));
      expect([status, new URL(url).searchParams.get('error')]).toEqual([303, 'request_not_supported']);
    },
  },
];
