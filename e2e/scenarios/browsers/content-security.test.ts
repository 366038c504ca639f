/** The pages of the system in Chromium: none violates its own content security policy (CSP 3). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { describeInChromium, launchChromium } from '../../stack/clients/chromium.ts';
import { authorizationPath } from '../oauth/authorization-request.ts';
import { CALLBACK, type OAuthSystem, leaseOAuthSystem } from '../oauth/oauth-system.ts';

/** A busy machine takes long to start an editor. */
const PATIENCE_MS = 90_000;

let system: OAuthSystem;

beforeAll(async () => {
  system = await leaseOAuthSystem();
});
afterAll(() => system.stop());

describeInChromium('in Chromium', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  it(
    'shows every page without a violation of its content security policy',
    async () => {
      const app = await system.register({
        ...{ grantTypes: ['authorization_code'], scopes: ['openid'], redirectUris: [CALLBACK], isPublic: true, owner: system.ada.id },
      });
      const page = await browser.newPage();
      const faults: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || /content security policy/i.test(message.text())) faults.push(`${page.url()}: ${message.text()}`);
      });
      page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
      const pages = [
        `${system.issuer}/`,
        `${system.issuer}/docs`,
        `${system.issuer}/v2/docs`,
        `${system.issuer}${authorizationPath(app.id)}`,
        `${system.issuer}/oauth/device`,
        `${system.stack.gateway}/graphql`,
      ];
      for (const url of pages) {
        const response = await page.goto(url, { timeout: PATIENCE_MS });
        expect([url, response?.status()]).toEqual([url, 200]);
        expect(response?.headers()['content-security-policy']).toContain("default-src 'none'");
      }
      // GraphiQL, the last one, loads its editor after the page.
      await page.locator('.monaco-editor').first().waitFor({ timeout: PATIENCE_MS });
      expect(faults).toEqual([]);
    },
    2 * PATIENCE_MS,
  );
});
