/** The thread of composition: when it ends. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

/** Composes when the thread of the first task is being ended, closes the composer, and prints how many threads were started and remain. */
const SCRIPT = `
import { setTimeout as wait } from 'node:timers/promises';
import { createComposer } from '${new URL('../../dist/composition/composer.js', import.meta.url).href}';
const threads = [];
process.on('worker', (thread) => threads.push(thread));
const idleMs = 20;
const composer = createComposer({ idleMs });
const task = { subgraphs: [{ name: 'one', url: 'http://one', sdl: 'type Query { one: Int }' }] };
await composer.compose(task);
await wait(idleMs);
await composer.compose(task);
await composer.close();
console.log(JSON.stringify({ started: threads.length, running: threads.filter(({ threadId }) => threadId !== -1).length }));
process.exit();
`;

/** Closes the composer while it composes, and prints the code of the error. */
const INTERRUPTED = `
import { createComposer } from '${new URL('../../dist/composition/composer.js', import.meta.url).href}';
const composer = createComposer();
const composed = composer.compose({ subgraphs: [{ name: 'one', url: 'http://one', sdl: 'type Query { one: Int }' }] });
setImmediate(() => composer.close());
composed.then(() => console.log('composed'), ({ code }) => console.log(code));
`;

async function run(script: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'trestle-composer-'));
  try {
    const file = join(folder, 'script.mjs');
    await writeFile(file, script);
    const { stdout } = await promisify(execFile)(process.execPath, [file]);
    return stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('createComposer', () => {
  it('rejects with SERVICE_UNAVAILABLE what is being composed when it is closed', async () => {
    expect(await run(INTERRUPTED)).toBe('SERVICE_UNAVAILABLE\n');
  });

  it('ends every thread, also one that starts while the one before is being ended', async () => {
    expect(JSON.parse(await run(SCRIPT))).toEqual({ started: 2, running: 0 });
  });
});
