/** A process whose clock is ahead shares its files and its database with others (ADR 27). */
import { access, mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Stack, startStack } from '../../stack/stack.ts';

const DAY_MS = 86_400_000;
const AHEAD_MS = 30 * DAY_MS;
const CLOCK_AHEAD = `const D=Date,now=()=>D.now()+${String(AHEAD_MS)};
globalThis.Date=class extends D{constructor(...a){if(a.length)super(...a);else super(now())}static now(){return now()}}`;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
}, 120_000);
afterAll(() => stack.stop());

async function writeFileOf(owner: string, key: string, modifiedAtMs: number): Promise<string> {
  const path = join(stack.files, owner, key);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'content');
  await utimes(path, modifiedAtMs / 1000, modifiedAtMs / 1000);
  return path;
}
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe('a process whose clock is 30 days ahead', () => {
  it.each([
    ['content', 'videos'],
    ['users', 'avatars'],
  ] as const)(
    'of %s deletes %s that no row names when they are old by the clock of the database, and keeps those that were just stored',
    async (name, folder) => {
      const stored = await writeFileOf(name, `${folder}/fil_stored`, Date.now());
      const old = await writeFileOf(name, `${folder}/fil_old`, Date.now() - DAY_MS);
      const started = await stack.startSubgraph(name, ['--import', `data:text/javascript,${encodeURIComponent(CLOCK_AHEAD)}`]);
      await until(async () => !(await exists(old)));
      await started.end('SIGTERM');
      expect(await exists(stored)).toBe(true);
    },
  );
});
