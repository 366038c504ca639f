import { execFileSync } from 'node:child_process';
import { describe, expect, it } from '@jest/globals';
import { runPaced } from './paced.ts';

/** Takes the time of some milliseconds of work. */
function work(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('work that comes at once', () => {
  it('is done in order, with other events handled in between', async () => {
    const done: number[] = [];
    let hasHandled = 0;
    for (let n = 0; n < 20; n++)
      runPaced(() => {
        work(2);
        done.push(n);
      });
    while (done.length < 20) {
      await new Promise((resolve) => setImmediate(resolve));
      hasHandled++;
    }
    expect(done).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(hasHandled).toBeGreaterThan(10);
  });

  it('may ask for further work', async () => {
    await new Promise<void>((resolve) => {
      runPaced(() => {
        runPaced(resolve);
      });
    });
  });

  it('goes on after a piece that throws, where the process survives it', () => {
    const script = `import { runPaced } from './packages/service/dist/process/paced.js';
    process.on('uncaughtException', ({ message }) => console.log(message));
    runPaced(() => { throw new Error('first'); });
    runPaced(() => console.log('second'));`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(output).toBe('first\nsecond\n');
  });
});
