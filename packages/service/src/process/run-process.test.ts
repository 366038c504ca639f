/** With real processes and signals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';

const MODULE = JSON.stringify(new URL('../../dist/process/run-process.js', import.meta.url).href);

/** Runs a process whose start is this body of a function. Returns its exit code, the signal that ended it, and what it wrote. */
async function run(start: string): Promise<[number | null, string | null, string]> {
  const code = `
    import { runProcess } from ${MODULE};
    const print = (line) => process.stdout.write(line + '\\n');
    let notify;
    const isStopping = new Promise((resolve) => (notify = resolve));
    const log = { info: (line) => notify(print(line)), error: print };
    setInterval(() => undefined, 60_000);
    const stop = async () => print('stopped');
    await runProcess(log, async () => { ${start} });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output, [exitCode, signal]] = await Promise.all([
    text(child.stdout),
    once(child, 'close') as Promise<[number | null, string | null]>,
  ]);
  return [exitCode, signal, output];
}

it.each(['SIGTERM', 'SIGINT'])('runProcess stops in order after %s', async (signal) => {
  const start = `setTimeout(() => process.kill(process.pid, '${signal}')); return stop;`;
  expect(await run(start)).toEqual([0, null, 'stopping\nstopped\n']);
});

it('runProcess stops in order after a signal that arrives before the start has ended, when the process may listen already', async () => {
  const start = `process.kill(process.pid, 'SIGTERM'); await isStopping; return stop;`;
  expect(await run(start)).toEqual([0, null, 'stopping\nstopped\n']);
});

it('runProcess ends the process when the start goes on after a signal', async () => {
  const start = `process.kill(process.pid, 'SIGTERM'); return new Promise(() => undefined);`;
  expect(await run(start)).toEqual([1, null, 'stopping\n']);
});
