/** Keeps one process running: starts it, waits until it is ready, and restarts it when it ends unexpectedly. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Child, startChild } from './child.ts';
import { openLogFile } from './log-file.ts';
import type { ProcessPlan } from './processes.ts';
import { type EndedRun, NO_FAILURES, countFailure, toDelay } from './restart-delay.ts';

/** Controls a supervised process. */
export interface SupervisedProcess {
  readonly name: string;
  /** Starts the process. Resolves when it is ready; rejects with its last errors when it ends before that. */
  start(): Promise<void>;
  /** Sends SIGTERM and resolves when the process has ended. It is not restarted. */
  stop(): Promise<void>;
  /** Sends SIGKILL. The process is not restarted. */
  kill(): void;
}

/** Configures a supervised process. */
export interface SuperviseOptions {
  readonly plan: ProcessPlan;
  /** Folder of the log file, `<name>.log`. */
  readonly logDirectory: string;
  /** Prints a line on the terminal. */
  readonly say: (line: string) => void;
}

const READY_POLL_MS = 50;
const READY_TIMEOUT_MS = 60_000;

/** Creates a supervised process. It does not run until `start` is called. */
export function superviseProcess({ plan, logDirectory, say }: SuperviseOptions): SupervisedProcess {
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const log = openLogFile(join(logDirectory, `${plan.name}.log`));
  let child: Child | undefined;
  /** Starts a run. `whenReady` resolves with the time at which the process is ready, or rejects when it ends before that. */
  const launch = () => {
    const started = (child = startChild({ plan, log: log.write, say }));
    return { child: started, whenReady: waitUntilReady(started, plan, stopping.signal).then(Date.now) };
  };

  const keepRunning = async (first: ReturnType<typeof launch>) => {
    let failures = NO_FAILURES;
    for (let run = first; ;) {
      const ended: EndedRun = { readyAt: undefined, endedAt: 0 };
      void run.whenReady.then(
        (time) => (ended.readyAt = time),
        () => undefined,
      );
      const how = await run.child.ended;
      if (isStopping()) return;
      ended.endedAt = Date.now();
      failures = countFailure(failures, ended);
      const delayMs = toDelay(failures);
      say(`${plan.name} ended unexpectedly (${how}${toReason(run.child)}), restarting in ${(delayMs / 1000).toFixed(1)} s`);
      await delay(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (isStopping()) return;
      run = launch();
      void run.whenReady.then(
        () => {
          say(`${plan.name} is ready again`);
        },
        () => undefined,
      );
    }
  };

  return {
    name: plan.name,
    async start() {
      const first = launch();
      await first.whenReady;
      void keepRunning(first);
    },
    async stop() {
      stopping.abort();
      child?.signal('SIGTERM');
      await child?.ended;
      log.close();
    },
    kill() {
      stopping.abort();
      child?.signal('SIGKILL');
    },
  };
}

function toReason(child: Child): string {
  const reason = child.lastErrors().find((line) => /error/i.test(line));
  return reason === undefined ? '' : `: ${reason.trim()}`;
}

async function waitUntilReady(child: Child, { name, port }: ProcessPlan, signal: AbortSignal): Promise<void> {
  const ended: { how?: string } = {};
  void child.ended.then((how) => (ended.how = how));
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(port))) {
    signal.throwIfAborted();
    if (ended.how !== undefined) throw new Error([`${name} did not start (${ended.how}):`, ...child.lastErrors()].join('\n  '));
    if (Date.now() > deadline) throw new Error(`${name} was not ready within ${String(READY_TIMEOUT_MS / 1000)} s. See its log.`);
    await delay(READY_POLL_MS);
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const { status } = await fetch(`http://127.0.0.1:${String(port)}/readyz`, { signal: AbortSignal.timeout(2000) });
    return status === 200;
  } catch {
    return false;
  }
}
