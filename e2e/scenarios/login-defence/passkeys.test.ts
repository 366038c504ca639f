/** Passkeys (ADR 21) with a virtual authenticator of Chromium: registration, login, and what must be refused. */
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import type { Reply } from '../../stack/clients/client.ts';
import { type OAuthSystem, startOAuthSystem } from '../oauth/oauth-system.ts';
import { logIn } from '../sessions/browser.ts';

const ada = { email: 'ada@example.org', password: 'Ada-passes-1' };
const eve = { email: 'eve@example.org', password: 'Eve-passes-1' };

/** What a browser returns, as JSON. */
interface BrowserResponse {
  readonly id: string;
  readonly response: Readonly<Record<string, string>>;
}

let system: OAuthSystem;
let browser: Browser;
let page: Page;
let token: string;

const post = (path: string, body: object, used?: string) => system.stack.call('POST', `/v1/auth${path}`, { body, token: used });
const begin = (credentials: object) => post('/login', credentials);
const demandOf = ({ body }: Reply) =>
  (body as { error: { secondFactor: { challenge: string; methods: string[]; passkey: object } } }).error.secondFactor;
const optionsOf = async (currentPassword: string, used: string) =>
  ((await post('/second-factor/passkeys/options', { currentPassword }, used)).body as { options: object }).options;
/** The browser itself makes or uses a passkey. */
const inBrowser = (method: 'create' | 'get', options: object) => {
  const parse = method === 'create' ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON';
  return page.evaluate<BrowserResponse>(
    `navigator.credentials.${method}({ publicKey: PublicKeyCredential.${parse}(${JSON.stringify(options)}) }).then((made) => made.toJSON())`,
  );
};
const sign = async () => {
  const { challenge, passkey } = demandOf(await begin(ada));
  return { challenge, passkey: await inBrowser('get', passkey) };
};
const add = async (used: string, password: string) =>
  post('/second-factor/passkeys', { name: 'Key ring', response: await inBrowser('create', await optionsOf(password, used)) }, used);

describeInChromium('passkeys', () => {
  beforeAll(async () => {
    // A passkey is bound to a host name; an address is none.
    system = await startOAuthSystem({}, 'localhost');
    await system.stack.createAccount('Eve');
    browser = await launchChromium();
    page = await browser.newPage();
    const debugging = await page.context().newCDPSession(page);
    await debugging.send('WebAuthn.enable');
    await debugging.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        ...{ protocol: 'ctap2', transport: 'usb', hasResidentKey: false, hasUserVerification: true, isUserVerified: true },
        automaticPresenceSimulation: true,
      },
    });
    await page.goto(`${system.issuer}/oauth/device`);
    ({ token } = await logIn(system.issuer, ada));
  });
  afterAll(async () => {
    await browser.close();
    await system.stop();
  });
  beforeEach(() => system.stack.sql('users', 'DELETE FROM failed_attempts'));

  it('are added with the current password, once for each set of options, and bring recovery codes', async () => {
    expect((await post('/second-factor/passkeys/options', { currentPassword: 'wrong' }, token)).status).toBe(403);
    const options = await optionsOf(ada.password, token);
    expect(options).toMatchObject({ rp: { id: 'localhost' }, attestation: 'none' });
    const response = await inBrowser('create', options);
    const added = await post('/second-factor/passkeys', { name: 'Key ring', response }, token);
    expect([added.status, (added.body as { recoveryCodes: string[] }).recoveryCodes]).toEqual([200, expect.any(Array)]);
    expect((await post('/second-factor/passkeys', { name: 'Again', response }, token)).status).toBe(400);
    const { body } = await system.stack.call('GET', '/v1/auth/second-factor', { token });
    expect(body).toMatchObject({
      isEnabled: true,
      hasTotp: false,
      recoveryCodesLeft: 10,
      passkeys: [{ name: 'Key ring', lastUsedAt: null }],
    });
  });

  it('are refused with a response that was invented, changed, or made for another account', async () => {
    const { token: other } = await logIn(system.issuer, eve);
    const response = await inBrowser('create', await optionsOf(eve.password, other));
    for (const hostile of [{}, { id: 'x' }, { ...response, response: {} }, { ...response, id: 'AAAA' }, { id: 'x'.repeat(20_000) }])
      expect((await post('/second-factor/passkeys', { name: 'Hostile', response: hostile }, other)).status).toBe(400);
    expect((await post('/second-factor/passkeys', { name: 'Hostile', response }, token)).status).toBe(400);
  });

  it('are removed with the current password, and logins need only the password again', async () => {
    const { token: other } = await logIn(system.issuer, eve);
    expect((await add(other, eve.password)).status).toBe(200);
    const { body } = await system.stack.call('GET', '/v1/auth/second-factor', { token: other });
    const id = (body as { passkeys: { id: string }[] }).passkeys[0]?.id ?? '';
    expect((await post(`/second-factor/passkeys/${id}/removal`, { currentPassword: ada.password }, token)).status).toBe(404);
    expect((await post(`/second-factor/passkeys/${id}/removal`, { currentPassword: eve.password }, other)).status).toBe(204);
    await logIn(system.issuer, eve);
  });

  it('complete a login, with a signature that is valid once', async () => {
    const reply = await begin(ada);
    expect(demandOf(reply)).toMatchObject({ methods: ['passkey', 'recovery_code'], passkey: { rpId: 'localhost' } });
    const signed = await sign();
    const completed = await post('/login/second-factor', signed);
    expect([completed.status, completed.headers.get('set-cookie')]).toEqual([200, expect.stringMatching(/^trestle-refresh=/)]);
    expect((await post('/login/second-factor', signed)).status).toBe(401);
    const { challenge } = demandOf(await begin(ada));
    expect((await post('/login/second-factor', { challenge, passkey: signed.passkey })).status).toBe(401);
  });

  it('do not complete a login when the signature is not that of the account for the challenge and the origin', async () => {
    const { challenge, passkey } = await sign();
    const { response } = passkey;
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const clientData = JSON.parse(Buffer.from(response['clientDataJSON'] ?? '', 'base64url').toString()) as object;
    const flip = (text = '') => `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`;
    for (const changed of [
      { signature: flip(response['signature']) },
      { authenticatorData: flip(response['authenticatorData']) },
      { clientDataJSON: encode({ ...clientData, origin: 'https://evil.example' }) },
      { clientDataJSON: encode({ ...clientData, challenge: 'A'.repeat(43) }) },
    ])
      expect(
        (await post('/login/second-factor', { challenge, passkey: { ...passkey, response: { ...response, ...changed } } })).status,
      ).toBe(401);
    expect((await post('/login/second-factor', { challenge })).status).toBe(400);
    expect((await post('/login/second-factor', { challenge, code: '123456', passkey })).status).toBe(400);
    expect((await post('/login/second-factor', { challenge, passkey })).status).toBe(200);
  });
});
