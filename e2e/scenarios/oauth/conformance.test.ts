/**
 * The test modules of the OpenID Foundation's basic certification plan that can be scripted, by their names there. `docs/oauth-conformance.md` lists
 * what they gave; `UPDATE_DOCUMENTS=1` writes it again.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConformanceClient, leaseConformanceSystem } from './conformance-client.ts';
import { REQUEST_MODULES } from './conformance-requests.ts';
import { TOKEN_MODULES } from './conformance-tokens.ts';

const DOCUMENT = fileURLToPath(new URL('../../../docs/oauth-conformance.md', import.meta.url));
const MODULES = [...TOKEN_MODULES, ...REQUEST_MODULES];

let started: Awaited<ReturnType<typeof leaseConformanceSystem>>;
beforeAll(async () => {
  started = await leaseConformanceSystem();
});
afterAll(() => started.system.stop());

describe('the basic certification plan of OpenID Connect', () => {
  it.each(MODULES.map((module) => [module.name, module] as const))('%s', async (_, { run }) => {
    await run(new ConformanceClient(started.system, started.web));
  });

  it('is listed in docs/oauth-conformance.md', () => {
    const rows = MODULES.map(({ name, checks, deviation, optional }) => [
      name
        .split(', ')
        .map((each) => `\`${each}\``)
        .join(', '),
      checks,
      deviation !== undefined ? `differs: ${deviation}` : (optional ?? 'passes'),
    ]);
    const table = [['module', 'checks', 'result'], ['---', '---', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
    const text = readFileSync(DOCUMENT, 'utf8');
    const head = text.slice(0, text.indexOf('| module'));
    if (process.env['UPDATE_DOCUMENTS'] === '1') writeFileSync(DOCUMENT, `${head}${table}\n`);
    expect(normalize(readFileSync(DOCUMENT, 'utf8'))).toBe(normalize(`${head}${table}\n`));
  });
});

/** Without what the formatter adds to tables. */
function normalize(text: string): string {
  return text.replace(/ +/g, ' ').replace(/-{3,}/g, '---');
}
