/** The examples' own tests, in copies outside the checkout, as their teams run them. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { copyExample } from './copied-example.ts';
import { PYTHON, describeWithPython } from './python.ts';

const run = promisify(execFile);

it('examples/reviews passes its own tests outside the checkout', async () => {
  const { folder, remove } = await copyExample('reviews');
  const env = { PATH: process.env['PATH'], TEST_DATABASE_URL: process.env['TEST_PG_URL'] };
  const { stdout } = await run('npm', ['test'], { cwd: folder, env }).catch((error: unknown) => error as { stdout: string });
  // Node.js 20 reports in the format of TAP where the output is no terminal, newer versions with signs.
  expect(stdout).toMatch(/^[#ℹ] pass [1-9]\d*$/mu);
  expect(stdout).toMatch(/^[#ℹ] fail 0$/mu);
  await remove();
});

it('examples/reviews has a lock file of exactly the dependencies that it declares', async () => {
  const { folder, remove } = await copyExample('reviews');
  const read = async (name: string) => JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<string, unknown>;
  const { dependencies, engines, version } = await read('package.json');
  const lock = (await read('package-lock.json')) as { packages: Record<string, Record<string, unknown>> };
  expect(lock.packages['']).toMatchObject({ dependencies, engines, version });
  for (const [name, wanted] of Object.entries(dependencies as Record<string, string>))
    expect([name, lock.packages[`node_modules/${name}`]?.['version']]).toEqual([name, wanted]);
  await remove();
});

describeWithPython('examples/warehouses-python', () => {
  it('passes its own tests outside the checkout', async () => {
    const { folder, remove } = await copyExample('warehouses-python');
    const { stderr } = await run(PYTHON, ['-B', '-m', 'unittest'], { cwd: folder }).catch((error: unknown) => error as { stderr: string });
    expect(stderr).toMatch(/^Ran [1-9]\d* tests .*\n\nOK$/mu);
    await remove();
  });
});
