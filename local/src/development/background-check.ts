/** Generates types and checks them while the processes run the new code already: one step at a time, in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Runs checks one after the other. */
export interface BackgroundCheck {
  /** Starts a check, or another one after the one that runs. With `hasNewSchema` it generates the types of resolvers first. */
  start(hasNewSchema: boolean): void;
  /** Ends the check that runs, and begins none any more. Resolves when its process has ended. */
  stop(): Promise<void>;
}

const require = createRequire(import.meta.url);
const TSC = join(dirname(require.resolve('typescript-7/package.json')), 'bin/tsc');
const MAX_OUTPUT = 20_000;

/** Creates the check of all projects. `say` gets the errors, or one line once they are gone. */
export function createBackgroundCheck(root: string, say: (line: string) => void): BackgroundCheck {
  const steps = new Set<'generate' | 'check'>();
  let child: ChildProcess | undefined;
  let running: Promise<void> | undefined;
  const end = new AbortController();
  const isStopped = () => end.signal.aborted;
  let hadErrors = false;

  const runStep = async (...args: string[]) => {
    const started = (child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] }));
    let output = '';
    const take = (chunk: Buffer) => (output = (output + chunk.toString()).slice(0, MAX_OUTPUT));
    started.stdout.on('data', take);
    started.stderr.on('data', take);
    const [code] = (await once(started, 'close')) as [number | null];
    return { isFailed: code !== 0, output: output.trimEnd() };
  };
  const run = async () => {
    while (steps.size > 0 && !isStopped()) {
      const step = steps.has('generate') ? 'generate' : 'check';
      steps.delete(step);
      const { isFailed, output } = await runStep(...(step === 'generate' ? [join(root, 'schema/dist/generate.js')] : [TSC, '-b']));
      if (isStopped()) return;
      if (isFailed) say(`The types are wrong:\n${output}`);
      else if (hadErrors && step === 'check') say('The types are right again');
      hadErrors = isFailed;
    }
  };

  return {
    start(hasNewSchema) {
      if (hasNewSchema) steps.add('generate');
      steps.add('check');
      running ??= run().finally(() => (running = undefined));
    },
    async stop() {
      end.abort();
      child?.kill('SIGTERM');
      await running;
    },
  };
}
