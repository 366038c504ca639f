/** `npm start` and, with `--watch`, `npm run dev`: runs the whole system on one machine until Ctrl-C. */
import { type Config, readConfig } from './config.ts';
import type { Development } from './development/development.ts';
import { toSummary } from './summary.ts';
import { createSupervisor } from './supervisor.ts';

/** npm forwards the Ctrl-C that the terminal has sent to this process as well: only a signal after this time is a second Ctrl-C. */
const SAME_SIGNAL_MS = 500;
const PARENT_POLL_MS = 200;

// A closed terminal must not prevent an orderly stop.
process.stdout.on('error', () => undefined);
const say = (line: string) => process.stdout.write(`${line}\n`);

const startedAt = Date.now();
const config = readConfigOrExit();
const supervisor = createSupervisor(config, say);
let development: Development | undefined;
let stoppingSince: number | undefined;

function stop(signal: NodeJS.Signals): void {
  if (stoppingSince !== undefined) {
    if (Date.now() - stoppingSince < SAME_SIGNAL_MS) return;
    supervisor.kill();
    process.exit(130);
  }
  stoppingSince = Date.now();
  say(signal === 'SIGINT' ? '\nStopping … (press Ctrl-C again to stop immediately)' : 'Stopping …');
  void end(0);
}

/** Stops when the parent process ends: npm sends a signal only to the shell that runs this process, and the shell does not forward it. */
function stopWithParent(): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    if (stoppingSince === undefined) stop('SIGTERM');
  }, PARENT_POLL_MS);
  watch.unref();
}

async function end(code: number): Promise<void> {
  try {
    await development?.stop();
    await supervisor.stop();
    if (code === 0) say('Stopped. The data is kept for the next start.');
    process.exit(code);
  } catch (error) {
    process.stderr.write(`${toMessage(error)}\n`);
    process.exit(1);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
if (config.isUnderNpm) stopWithParent();

try {
  const started = await supervisor.start();
  say(toSummary({ config, started, seconds: (Date.now() - startedAt) / 1000 }));
  if (config.isDevelopment) {
    // It loads the compiler, which `npm start` does not need.
    const { startDevelopment } = await import('./development/development.ts');
    development = startDevelopment({ root: config.root, restart: (names) => supervisor.restart(names), say });
  }
} catch (error) {
  // A stop during the start has been reported already.
  if (stoppingSince === undefined) {
    stoppingSince = Date.now();
    process.stderr.write(`\nTrestle could not start.\n${toMessage(error)}\n`);
    await end(1);
  }
}

function readConfigOrExit(): Config {
  try {
    return readConfig();
  } catch (error) {
    process.stderr.write(`Trestle could not start.\n${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return config.LOG_LEVEL === 'debug' ? (error.stack ?? error.message) : error.message;
}
