/** The command `registry:token` as a process. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const COMMAND = fileURLToPath(new URL('../../dist/token-create/main.js', import.meta.url));
/** No server listens at this port. */
const env = { REGISTRY_DATABASE_URL: 'postgres://trestle@127.0.0.1:1/registry' };

/** Resolves with the exit code, and what the command wrote to standard error. */
function run(args: readonly string[]): Promise<[unknown, string]> {
  return new Promise((resolve) => {
    execFile(process.execPath, [COMMAND, ...args], { env }, (error, _, written) => {
      resolve([error ? error.code : 0, written]);
    });
  });
}

it.each([[[]], [['--name', 'ci', '--scope', 'none']], [['--nme', 'ci']]])(
  'ends with 2 and the usage for the arguments %j',
  async (args) => {
    expect(await run(args)).toEqual([2, expect.stringContaining('Usage: npm run registry:token')]);
  },
);

it('ends with 0 for --help, and with 1 when the database is not reachable', async () => {
  expect(await run(['--help'])).toEqual([0, '']);
  expect(await run(['--name', 'ci'])).toEqual([1, expect.not.stringContaining('Usage')]);
});
