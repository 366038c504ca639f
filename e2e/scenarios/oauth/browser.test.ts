/** The pages in Chromium, with and without JavaScript: they can be used, they are accessible (axe), and they fit a phone. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import { authorizationPath } from './authorization-request.ts';
import { PHONE, checkPage } from './check-page.ts';
import { CALLBACK, DEVICE_GRANT, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

describeInChromium('the pages in Chromium', () => {
  let system: OAuthSystem;
  let app: RegisteredClient;
  let device: RegisteredClient;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    system = await leaseOAuthSystem();
    const scopes = ['openid', 'profile', 'orders:read', 'posts:write'];
    const common = { scopes, isPublic: true, owner: system.ada.id };
    app = await system.register({ ...common, grantTypes: ['authorization_code'], redirectUris: [CALLBACK] });
    device = await system.register({ ...common, grantTypes: [DEVICE_GRANT] });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await system.stop();
  });
  beforeEach(async () => {
    page = await browser.newPage({ viewport: PHONE });
  });
  afterEach(() => page.context().close());

  const address = () => `${system.issuer}${authorizationPath(app.id, { scope: 'openid orders:read posts:write' })}`;

  const logIn = async () => {
    await page.getByLabel('E-mail address').fill(system.ada.email);
    await page.getByLabel('Password').fill(system.ada.password);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  /** Nothing listens at the client's address: the browser stays there with an error. */
  const returned = async () => {
    const request = await page.waitForRequest((each) => each.url().startsWith(CALLBACK));
    return new URL(request.url()).searchParams;
  };

  it('let a person log in and allow the access', async () => {
    await page.goto(address());
    await checkPage(page, 'Log in');
    await logIn();
    await checkPage(page, 'Allow access?');
    expect(await page.getByRole('listitem').allTextContents()).toContain('Read your orders and invoices');
    const returning = returned();
    await page.getByRole('button', { name: 'Allow' }).click();
    expect((await returning).get('code')).toEqual(expect.any(String));
  });

  it('say what is wrong with a login, and take the next', async () => {
    await page.goto(address());
    await page.getByLabel('E-mail address').fill(system.ada.email);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Log in' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('wrong');
    await checkPage(page, 'Log in');
    await logIn();
    await checkPage(page, 'Allow access?');
  });

  it('let a person deny the access, without JavaScript', async () => {
    await page.context().close();
    page = await browser.newPage({ viewport: PHONE, javaScriptEnabled: false });
    await page.goto(address());
    await logIn();
    const returning = returned();
    await page.getByRole('button', { name: 'Deny' }).click();
    expect((await returning).get('error')).toBe('access_denied');
  });

  it('connect a device', async () => {
    const { body } = await system.post('/oauth/device_authorization', { client_id: device.id, scope: 'openid posts:write' });
    await page.goto(String(body['verification_uri']));
    await checkPage(page, 'Connect a device');
    await page.getByLabel('Code').fill(String(body['user_code']));
    await page.getByRole('button', { name: 'Continue' }).click();
    await checkPage(page, 'Is this your device?');
    await page.getByRole('button', { name: 'Yes, continue' }).click();
    await logIn();
    await page.getByRole('button', { name: 'Allow' }).click();
    await checkPage(page, 'Device connected');
    const poll = { grant_type: DEVICE_GRANT, client_id: device.id, device_code: String(body['device_code']) };
    expect((await system.post('/oauth/token', poll)).status).toBe(200);
  });

  it('log a person out', async () => {
    await page.goto(address());
    await logIn();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await page.goto(`${system.issuer}/oauth/logout`);
    await checkPage(page, 'Log out?');
    await page.getByRole('button', { name: 'Log out' }).click();
    await checkPage(page, 'Done');
    await page.goto(address());
    await checkPage(page, 'Log in');
  });

  it('explain a request that is not valid', async () => {
    await page.goto(`${system.issuer}/oauth/authorize?client_id=nobody`);
    await checkPage(page, 'This did not work');
  });
});
