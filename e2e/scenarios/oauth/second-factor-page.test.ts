/** The page of the second factor in Chromium: codes without JavaScript, passkeys with it, and an operator's help. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import { until } from '../../stack/clients/client.ts';
import { totpOf } from '../login-defence/totp.ts';
import { logIn } from '../sessions/browser.ts';
import { authorizationPath } from './authorization-request.ts';
import { PHONE, checkPage } from './check-page.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient, startOAuthSystem } from './oauth-system.ts';

const eve = { email: 'eve@example.org', password: 'Eve-passes-1' };
const TITLE = 'Enter your code';

describeInChromium('the page of the second factor', () => {
  let system: OAuthSystem;
  let app: RegisteredClient;
  let browser: Browser;
  let page: Page;
  let secret: string;

  const post = (path: string, body: object, token: string) => system.stack.call('POST', `/v1/auth/second-factor${path}`, { body, token });

  beforeAll(async () => {
    // A passkey is bound to a host name; an address is none.
    system = await startOAuthSystem({}, 'localhost');
    const { id } = await system.stack.createAccount('Eve');
    app = await system.register({
      grantTypes: ['authorization_code'],
      scopes: ['openid'],
      redirectUris: [CALLBACK],
      isPublic: true,
      owner: id,
    });
    const { email, password } = system.ada;
    const { token } = await logIn(system.issuer, { email, password });
    ({ secret } = (await post('/totp', { currentPassword: password }, token)).body as { secret: string });
    await post('/totp/confirmation', { code: totpOf(secret) }, token);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser.close();
    await system.stop();
  });
  beforeEach(async () => {
    await system.stack.sql('users', 'WITH cleared AS (DELETE FROM failed_attempts) UPDATE totp_secrets SET "lastStep" = NULL');
    page = await browser.newPage({ viewport: PHONE });
  });
  afterEach(() => page.context().close());

  /** Opens the page of an account with a second factor. */
  const open = async ({ email, password }: { readonly email: string; readonly password: string }) => {
    await page.goto(`${system.issuer}${authorizationPath(app.id)}`);
    await page.getByLabel('E-mail address').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  const passkeyButton = () => page.getByRole('button', { name: 'Use a passkey' });
  const isPastLogin = async () => {
    await page.getByRole('heading', { name: 'Allow access?' }).waitFor();
  };

  it('is accessible, says that a code is wrong, takes the right one, and needs no JavaScript', async () => {
    await page.context().close();
    page = await browser.newPage({ viewport: PHONE, javaScriptEnabled: false });
    await open(system.ada);
    await page.getByLabel('Code').fill('000000');
    await page.getByRole('button', { name: 'Continue' }).click();
    expect(await page.getByRole('alert').textContent()).toContain('wrong');
    expect(await passkeyButton().count()).toBe(0);
    await page.getByLabel('Code').fill(totpOf(secret));
    await page.getByRole('button', { name: 'Continue' }).click();
    await isPastLogin();
    await page.context().close();
    page = await browser.newPage({ viewport: PHONE });
    await open(system.ada);
    await checkPage(page, TITLE);
  });

  it('offers a passkey to browsers with JavaScript, with no script but its own', async () => {
    const authenticator = await page.context().newCDPSession(page);
    await authenticator.send('WebAuthn.enable');
    await authenticator.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'usb', hasResidentKey: false, hasUserVerification: true, isUserVerified: true },
        automaticPresenceSimulation: true,
      },
    });
    const { token } = await logIn(system.issuer, eve);
    const { options } = (await post('/passkeys/options', { currentPassword: eve.password }, token)).body as { options: object };
    await page.goto(`${system.issuer}/oauth/device`);
    const response = await page.evaluate<object>(
      `navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(${JSON.stringify(options)}) }).then((made) => made.toJSON())`,
    );
    expect((await post('/passkeys', { name: 'Key ring', response }, token)).status).toBe(200);

    const answered = page.waitForResponse((each) => each.request().method() === 'POST' && each.url().includes('/oauth/interaction/'));
    await open(eve);
    const policy = (await answered).headers()['content-security-policy'];
    expect(policy).toMatch(/script-src 'sha256-[\w+/]{43}='; /);
    expect(policy).not.toContain('unsafe');
    await checkPage(page, TITLE);
    await passkeyButton().click();
    await isPastLogin();
  });

  it('takes no passkey that the browser did not sign', async () => {
    await open(eve);
    for (const forged of ['', '{}', 'null', '7', '{"id":"x","response":{}}']) {
      await page.evaluate(
        `(() => { const form = document.getElementById('passkey'); form.elements.passkey.value = ${JSON.stringify(forged)}; form.submit(); })()`,
      );
      await page.getByText('The passkey is not one of the account, or did not sign.').waitFor();
      expect(await page.title()).toContain(TITLE);
    }
  });

  it('is not needed any more after npm run admin:reset-second-factor', async () => {
    const main = fileURLToPath(new URL('../../../subgraphs/users/dist/second-factor-reset/main.js', import.meta.url));
    const [row] = await system.stack.sql<{ url: string }>('users', `SELECT current_database() AS url`);
    const url = new URL(process.env['TEST_PG_URL'] ?? '');
    url.pathname = `/${row?.url ?? ''}`;
    const env = { PATH: process.env['PATH'], USERS_DATABASE_URL: url.href };
    const token = system.stack.issueToken(system.ada.id, 'USER');
    const statusOf = async () => (await system.stack.call('GET', '/v1/auth/second-factor', { token })).status;
    expect(await statusOf()).toBe(200);
    expect(spawnSync(process.execPath, [main, '--email', system.ada.email], { env }).status).toBe(0);
    await open(system.ada);
    await isPastLogin();
    // The command has no connection to the verifiers: the users process reads the revocation from the database.
    await until(async () => (await statusOf()) === 401);
  });
});
