/** Generates types and checks them while the processes run the new code already: one step at a time, in processes of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { stat, utimes } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Runs checks one after the other. */
export interface BackgroundCheck {
  /** Starts a check, or another one after the one that runs. With `hasNewSchema` it generates the types of resolvers first. */
  start(hasNewSchema: boolean): void;
  /** Ends the check that runs, and begins none any more. Resolves when its process has ended. */
  stop(): Promise<void>;
}

/** What is checked. */
export interface BackgroundCheckOptions {
  /** The folder of the repository. */
  readonly root: string;
  /** The folders of the projects whose sources are watched, relative to `root`. */
  readonly projects: readonly string[];
  /** Gets the errors, or one line once they are gone. */
  readonly say: (line: string) => void;
}

const require = createRequire(import.meta.url);
const TSC = join(dirname(require.resolve('typescript-7/package.json')), 'bin/tsc');
const MAX_OUTPUT = 20_000;
/** The time of a file may be so much older than that of the write. */
const CLOCK_STEP_MS = 10;

/** Creates the check of all projects. */
export function createBackgroundCheck({ root, projects, say }: BackgroundCheckOptions): BackgroundCheck {
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
      const startedAt = new Date(Date.now() - CLOCK_STEP_MS);
      const { isFailed, output } = await runStep(...(step === 'generate' ? [join(root, 'schema/dist/generate.js')] : [TSC, '-b']));
      await Promise.all(projects.map((project) => dateBack(join(root, project, 'dist/.tsbuildinfo'), startedAt)));
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

/**
 * Gives what `tsc -b` has written the time at which it started: it skips sources that are older than that file, and would never check one that was
 * edited while it ran.
 */
async function dateBack(file: string, startedAt: Date): Promise<void> {
  const found = await stat(file).catch(() => undefined);
  if (found && found.mtime > startedAt) await utimes(file, startedAt, startedAt).catch(() => undefined);
}
