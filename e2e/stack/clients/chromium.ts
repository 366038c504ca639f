/** Debian's Chromium, for tests of what browsers do. Without one these tests are skipped, and say so. */
import { existsSync } from 'node:fs';
import { describe } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';

const PATH = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

if (PATH === undefined)
  process.stderr.write('\n*** No Chromium was found: nothing is tested in a browser. Run `apt-get install chromium`. ***\n\n');

/** Groups tests as `describe` does; skips them without Chromium. */
export function describeInChromium(title: string, tests: () => void): void {
  (PATH === undefined ? describe.skip : describe)(title, tests);
}

/** Starts Chromium. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({ executablePath: PATH ?? '', args: ['--no-sandbox'] });
}
