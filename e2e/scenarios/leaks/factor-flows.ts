/** The flows of devices and of second factors, with secrets that the system gives and codes that people type. */
import { type Reply, type RequestOptions, until } from '../../stack/clients/client.ts';
import { totpOf } from '../login-defence/totp.ts';
import { FormBrowser } from '../oauth/form-browser.ts';
import { DEVICE_GRANT, type OAuthSystem } from '../oauth/oauth-system.ts';
import { EMAIL, PASSWORD, type Planted } from './planted.ts';

/** What the flows are run with. Both functions keep what errors say. */
export interface FactorFlowOptions {
  readonly system: OAuthSystem;
  readonly planted: Planted;
  readonly rest: (method: string, path: string, options?: Omit<RequestOptions, 'method'>) => Promise<Reply>;
  readonly form: (
    path: string,
    fields: Readonly<Record<string, string>>,
  ) => Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }>;
}

/** The device flow: a wrong user code, polls before and after the decision, and a device code that was used. */
export async function connectDevice({ system, planted, form }: FactorFlowOptions): Promise<void> {
  const device = await system.register({
    grantTypes: [DEVICE_GRANT],
    scopes: ['openid', 'posts:read'],
    isPublic: true,
    owner: system.ada.id,
  });
  const { body } = await form('/oauth/device_authorization', { client_id: device.id, scope: 'openid posts:read' });
  const [userCode, deviceCode] = [String(body['user_code']), String(body['device_code'])];
  planted.plant('device code', deviceCode, userCode, userCode.replace('-', ''));
  const poll = () => form('/oauth/token', { grant_type: DEVICE_GRANT, client_id: device.id, device_code: deviceCode });
  await poll();
  await poll();
  const browser = new FormBrowser(system.issuer);
  await browser.open('/oauth/device');
  await browser.submit({ user_code: `${userCode.slice(0, -1)}0` });
  await browser.open('/oauth/device');
  await browser.submit({ user_code: userCode });
  await browser.submit({ confirm: 'yes' });
  await browser.submit({ email: EMAIL, password: PASSWORD, action: 'login' });
  await browser.submit({ action: 'approve' });
  // The server wants a pause between polls.
  let given = await poll();
  await until(async () => {
    if (given.status !== 200) given = await poll();
    return given.status === 200;
  });
  planted.plantToken(String(given.body['access_token']));
  await poll();
}

/** Enrolment with a wrong code first, a login with a wrong and a right code, a recovery code twice, and removal. */
export async function useSecondFactor({ system, planted, rest }: FactorFlowOptions, token: string): Promise<void> {
  const base = '/v1/auth/second-factor';
  const started = await rest('POST', `${base}/totp`, { token, body: { currentPassword: PASSWORD } });
  const { secret } = started.body as { secret: string };
  planted.plant('TOTP secret', secret);
  await rest('POST', `${base}/totp/confirmation`, { token, body: { code: 'planted-wrong-code' } });
  const confirmed = await rest('POST', `${base}/totp/confirmation`, { token, body: { code: totpOf(secret) } });
  const { recoveryCodes } = confirmed.body as { recoveryCodes: string[] };
  planted.plant('recovery code', ...recoveryCodes, ...recoveryCodes.map((code) => code.replace('-', '')));
  const begin = async () => {
    await system.stack.sql('users', 'DELETE FROM failed_attempts');
    const { body } = await rest('POST', '/v1/auth/login', { body: { email: EMAIL, password: PASSWORD } });
    const { challenge } = (body as { error: { secondFactor: { challenge: string } } }).error.secondFactor;
    // Each error with a challenge gives it to the client: it is a secret everywhere else.
    planted.plant('challenge', challenge);
    return challenge;
  };
  const [code = ''] = recoveryCodes;
  for (const proof of [{ code: 'planted-wrong-code' }, { code }, { passkey: { id: secret, response: { clientDataJSON: code } } }]) {
    const completed = await rest('POST', '/v1/auth/login/second-factor', { body: { challenge: await begin(), ...proof } });
    const { accessToken } = (completed.body ?? {}) as { accessToken?: string };
    if (accessToken !== undefined) planted.plantToken(accessToken);
  }
  await rest('POST', '/v1/auth/login/second-factor', { body: { challenge: await begin(), code } });
  await rest('POST', `${base}/totp/removal`, { token, body: { currentPassword: PASSWORD } });
}
