/** Attacks on the pages of the authorization server (RFC 9700 §4): other sites, stolen cookies, guessed passwords, and markup in parameters. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type RequestParameters, authorizationPath } from './authorization-request.ts';
import { FormBrowser } from './form-browser.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

let system: OAuthSystem;
let app: RegisteredClient;
let browser: FormBrowser;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  app = await system.register({
    ...{ grantTypes: ['authorization_code'], scopes: ['openid', 'orders:read'], owner: system.ada.id },
    ...{ isPublic: true, redirectUris: [CALLBACK] },
  });
});
afterAll(() => system.stop());
beforeEach(() => {
  browser = new FormBrowser(system.issuer);
});

const addressOf = (changes: RequestParameters = {}) => authorizationPath(app.id, { scope: 'openid orders:read', ...changes });

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
