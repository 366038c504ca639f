/** A process whose clock is ahead shares its files and its database with others (ADR 27). */
import { access, mkdir, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Stack, startStack } from '../../stack/stack.ts';

const SWEEP_AFTER_SECONDS = 5;
const CLOCK_AHEAD = `const D=Date,now=()=>D.now()+30*86400000;
globalThis.Date=class extends D{constructor(...a){if(a.length)super(...a);else super(now())}static now(){return now()}}`;

const FOLDERS = [
  ['content', 'videos'],
  ['users', 'avatars'],
] as const;
const olds: Record<string, string> = {};
let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ env: { FILES_SWEEP_AFTER_SECONDS: String(SWEEP_AFTER_SECONDS) } });
  for (const [name, folder] of FOLDERS) olds[name] = await store(name, `${folder}/fil_old`);
}, 120_000);
afterAll(() => stack.stop());

/** Stores a file that no row names. */
async function store(owner: string, key: string): Promise<string> {
  const path = join(stack.files, owner, key);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, 'content');
  return path;
}
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  );

describe('a process whose clock is 30 days ahead', () => {
  it.each(FOLDERS)(
    'of %s deletes %s that no row names when they are old by the clock of the database, and keeps those that were just stored',
    async (name, folder) => {
      const old = olds[name] as string;
      const { ctimeMs } = await stat(old);
      await until(() => Promise.resolve(Date.now() > ctimeMs + SWEEP_AFTER_SECONDS * 1000));
      const stored = await store(name, `${folder}/fil_stored`);
      await stack.startSubgraph(name, ['--import', `data:text/javascript,${encodeURIComponent(CLOCK_AHEAD)}`]);
      await until(async () => {
        // As new as a file can be, however long the process takes to start. Rejects when it was deleted.
        await utimes(stored, 1, 1);
        return !(await exists(old));
      });
      expect(await exists(stored)).toBe(true);
    },
  );
});
