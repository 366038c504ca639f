/**
 * Python with graphql-core, for the example in Python: Debian's own before any other. Without one these tests are skipped, and say so; in CI, which
 * installs it (`.ci/run`), they fail instead.
 */
import { execFileSync } from 'node:child_process';
import { describe } from '@jest/globals';

/** The command of Python; empty when none was found. */
export const PYTHON = ['/usr/bin/python3', 'python3'].find(hasGraphQLCore) ?? '';

const INSTALL = 'Run `apt-get install python3-graphql-core`.';

if (PYTHON === '')
  process.stderr.write(`\n*** No Python with graphql-core was found: examples/warehouses-python is not tested. ${INSTALL} ***\n\n`);

/** Groups tests as `describe` does; skips them without Python, except in CI. */
export function describeWithPython(title: string, tests: () => void): void {
  if (PYTHON === '' && process.env['CI']) throw new Error(`CI must test the example in Python. ${INSTALL}`);
  (PYTHON === '' ? describe.skip : describe)(title, tests);
}

function hasGraphQLCore(command: string): boolean {
  try {
    execFileSync(command, ['-c', 'import graphql'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
