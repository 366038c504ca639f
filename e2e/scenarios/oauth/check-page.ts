/** What every page for people must be: accessible by axe in light and dark, and no wider than a phone. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The size of the window. */
export const PHONE = { width: 360, height: 640 };

/** Checks the page that is open. */
export async function checkPage(page: Page, title: string): Promise<void> {
  expect(await page.title()).toBe(`${title} · Trestle`);
  expect(await page.locator('h1').textContent()).toBe(title);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // The protocol of the debugger is not subject to the policy of the page.
    const violations = await page.evaluate<unknown[]>(`(() => { ${AXE}; })(); axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))`);
    expect(violations).toEqual([]);
  }
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
}
