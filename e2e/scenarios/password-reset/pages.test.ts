/** The pages of password resets in Chromium without JavaScript, accessible by axe; and that an unknown address takes as long as a known one. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import { until } from '../../stack/clients/client.ts';
import { PHONE, checkPage } from '../oauth/check-page.ts';
import { type OAuthSystem, startOAuthSystem } from '../oauth/oauth-system.ts';
import { logIn } from '../sessions/browser.ts';
import type { Stack } from '../../stack/stack.ts';
import { type MailServer, startMailServer } from './mail-server.ts';

let mails: MailServer;
let system: OAuthSystem<Stack>;
let stack: Stack;
beforeAll(async () => {
  mails = await startMailServer();
  system = await startOAuthSystem({ SMTP_URL: mails.url });
  stack = system.stack;
});
afterAll(async () => {
  await system.stop();
  await mails.stop();
});

const requestReset = (email: string) => stack.call('POST', '/v1/auth/password-reset', { body: { email } });

describeInChromium('the pages of password resets in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it('let a person set a new password without JavaScript, and are accessible', async () => {
    // Axe is a script of the debugger; a second tab shows it the same pages.
    const [plain, checked] = await Promise.all([
      browser.newPage({ viewport: PHONE, javaScriptEnabled: false }),
      browser.newPage({ viewport: PHONE }),
    ]);
    const address = `${system.issuer}/password-reset`;
    await checked.goto(address);
    await checkPage(checked, 'Forgot your password?');
    await plain.goto(address);
    await plain.getByLabel('E-mail address').fill('ada@example.org');
    await plain.getByRole('button', { name: 'Send the link' }).click();
    expect(await plain.locator('h1').textContent()).toBe('Look into your mailbox');
    await until(() => Promise.resolve(mails.mails.length > 0));
    const { link } = mails.mails[0] as { link: URL };
    expect(link.origin).toBe(system.issuer);
    await checked.goto(link.href);
    await checkPage(checked, 'Set a new password');
    await plain.goto(link.href);
    await plain.getByLabel('New password').fill('password');
    await plain.getByRole('button', { name: 'Set the password' }).click();
    expect(await plain.getByRole('alert').textContent()).toContain('most common passwords');
    await plain.getByLabel('New password').fill('a wholly new secret 9');
    await plain.getByRole('button', { name: 'Set the password' }).click();
    expect(await plain.locator('h1').textContent()).toBe('Your password was set');
    await checked.goto(link.href);
    await checkPage(checked, 'This link does not work');
    await logIn(stack.rest, { email: 'ada@example.org', password: 'a wholly new secret 9' });
    await Promise.all([plain.context().close(), checked.context().close()]);
  });
});

describe('POST /v1/auth/password-reset', () => {
  it('takes as long for an unknown address as for a known one', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `Timed${String(i)}`);
    for (const name of names) await stack.createAccount(name);
    const measure = async (email: string) => {
      const started = performance.now();
      expect((await requestReset(email)).status).toBe(202);
      return performance.now() - started;
    };
    const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
    const differences: number[] = [];
    // Other processes can disturb one round; a difference between the two kinds shows in each. An account allows three requests.
    for (let round = 0; round < 3 && !differences.some((difference) => difference < Math.log(1.5)); round++) {
      const [known, unknown]: [number[], number[]] = [[], []];
      for (const name of names) {
        known.push(await measure(`${name.toLowerCase()}@example.org`));
        unknown.push(await measure(`nobody.${name.toLowerCase()}@example.org`));
      }
      differences.push(Math.abs(Math.log(median(known) / median(unknown))));
    }
    expect(Math.min(...differences)).toBeLessThan(Math.log(1.5));
  });

  it('names the job in Location whatever `fields` names', async () => {
    const reply = await stack.call('POST', '/v1/auth/password-reset?fields=status', { body: { email: 'somebody@example.org' } });
    expect([reply.body, reply.headers.get('location')]).toEqual([
      { status: 'queued' },
      expect.stringMatching(/^\/v1\/jobs\/job_[0-9a-z]{26}$/),
    ]);
    // Not that of the account whose password was reset above.
    const { token } = await stack.createAccount('Fields');
    const post = await stack.call('POST', '/v1/posts?fields=title', { body: { title: 'Fields' }, token });
    expect([post.body, post.headers.get('location')]).toEqual([
      { title: 'Fields' },
      expect.stringMatching(/^\/v1\/posts\/pst_[0-9a-z]{26}$/),
    ]);
  });
});
