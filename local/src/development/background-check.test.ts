/** Checks a project of one file with the compiler of the repository. */
import { mkdir, mkdtemp, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type BackgroundCheck, createBackgroundCheck } from './background-check.ts';

let root: string;
let check: BackgroundCheck;
const said: string[] = [];

const write = async (path: string, content: unknown) => {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), typeof content === 'string' ? content : JSON.stringify(content));
};

beforeEach(async () => {
  said.length = 0;
  root = await mkdtemp(join(tmpdir(), 'trestle-check-'));
  const compilerOptions = { composite: true, rootDir: 'src', outDir: 'dist', tsBuildInfoFile: 'dist/.tsbuildinfo', types: [] };
  await write('tsconfig.json', { files: [], references: [{ path: 'one' }] });
  await write('one/tsconfig.json', { compilerOptions, include: ['src'] });
  await write('one/src/one.ts', 'export const one: number = 1;');
  check = createBackgroundCheck({ root, projects: ['one'], say: (line) => said.push(line) });
});
afterEach(async () => {
  await check.stop();
  await rm(root, { recursive: true, force: true });
});

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(10);
}

it('finds the errors of a source that was edited while the check before it ran', async () => {
  const startedAt = new Date();
  check.start(false);
  await until(() =>
    stat(join(root, 'one/dist/.tsbuildinfo')).then(
      () => true,
      () => false,
    ),
  );
  await write('one/src/one.ts', "export const one: number = 'one';");
  // After the compiler had read the source, and before it wrote its results.
  const editedAt = new Date(startedAt.getTime() + 1);
  await utimes(join(root, 'one/src/one.ts'), editedAt, editedAt);
  check.start(false);
  await until(() => said.length > 0);
  expect(said).toEqual([expect.stringContaining('error TS2322')]);
  await write('one/src/one.ts', 'export const one: number = 2;');
  check.start(false);
  await until(() => said.length > 1);
  expect(said[1]).toBe('The types are right again');
});
