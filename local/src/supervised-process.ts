/** Keeps one process running: starts it, waits until it can serve, and starts it again when it ends by itself. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Child, startChild } from './child.ts';
import { openLogFile } from './log-file.ts';
import type { ProcessPlan } from './processes.ts';
import { type EndedRun, NO_FAILURES, countFailure, toDelay } from './restart-delay.ts';

export interface SupervisedProcess {
  readonly name: string;
  /** Resolves once it can serve. Rejects, with what it complained about, when it ends before. */
  start(): Promise<void>;
  /** Tells it to end and resolves when it is gone. */
  stop(): Promise<void>;
  kill(): void;
}

export interface SuperviseOptions {
  readonly plan: ProcessPlan;
  readonly logDirectory: string;
  readonly say: (line: string) => void;
}

const READY_POLL_MS = 50;
const READY_PATIENCE_MS = 60_000;

/** Nothing runs until `start`. */
export function superviseProcess({ plan, logDirectory, say }: SuperviseOptions): SupervisedProcess {
  const end = new AbortController();
  const isOver = () => end.signal.aborted;
  const log = openLogFile(join(logDirectory, `${plan.name}.log`));
  let child: Child | undefined;
  /** Starts a run; `whenReady` resolves with the time, or rejects when the run ends before. */
  const launch = () => {
    const started = (child = startChild({ plan, log: log.write, say }));
    return { child: started, whenReady: waitUntilReady(started, plan, end.signal).then(Date.now) };
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
      if (isOver()) return;
      ended.endedAt = Date.now();
      failures = countFailure(failures, ended);
      const delayMs = toDelay(failures);
      say(`${plan.name} ended unexpectedly (${how}${toReason(run.child)}), restarting in ${(delayMs / 1000).toFixed(1)} s`);
      await delay(delayMs, undefined, { signal: end.signal }).catch(() => undefined);
      if (isOver()) return;
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
      end.abort();
      child?.signal('SIGTERM');
      await child?.ended;
      log.close();
    },
    kill() {
      end.abort();
      child?.signal('SIGKILL');
    },
  };
}

function toReason(child: Child): string {
  const reason = child.complaints().find((line) => /error/i.test(line));
  return reason === undefined ? '' : `: ${reason.trim()}`;
}

async function waitUntilReady(child: Child, { name, port }: ProcessPlan, signal: AbortSignal): Promise<void> {
  const ended: { how?: string } = {};
  void child.ended.then((how) => (ended.how = how));
  const deadline = Date.now() + READY_PATIENCE_MS;
  while (!(await isReady(port))) {
    signal.throwIfAborted();
    if (ended.how !== undefined) throw new Error([`${name} did not start (${ended.how}):`, ...child.complaints()].join('\n  '));
    if (Date.now() > deadline) throw new Error(`${name} was not ready after ${String(READY_PATIENCE_MS / 1000)} s; see its log`);
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
