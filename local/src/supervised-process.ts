/** Keeps one process running: starts it, waits until it is ready, and restarts it when it ends unexpectedly or its code has changed. */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Child, startChild } from './child.ts';
import { type LogFile, openLogFile } from './log-file.ts';
import { isFree } from './ports.ts';
import { HOST, type ProcessPlan } from './processes.ts';
import { type EndedRun, NO_FAILURES, countFailure, toDelay } from './restart-delay.ts';

/** Controls a supervised process. */
export interface SupervisedProcess {
  readonly name: string;
  /** Starts the process. Resolves when it is ready; rejects with its last errors when it ends before that. */
  start(): Promise<void>;
  /**
   * Ends the process, with SIGTERM and after 0.5 s with SIGKILL, and starts it again without a delay. Resolves when it is ready; rejects
   * with its last errors when it ends before that, or when it is stopped. Requests that come before the process has ended share a restart.
   */
  restart(): Promise<void>;
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
const PORT_POLL_MS = 200;
/** The workers of a gateway that was killed hold its port for a moment. */
const PORT_GRACE_MS = 1000;
/** In development a restart is worth more than requests in flight. */
const RESTART_GRACE_MS = 500;

/** One run of the process. `whenReady` resolves with the time at which it is ready, or rejects when it ends before that. */
interface Run {
  readonly child: Child;
  readonly whenReady: Promise<number>;
}

/** A restart that was requested and has not begun. */
interface RequestedRestart {
  readonly run: Promise<Run>;
  begin(run: Run): void;
  cancel(): void;
}

/** Creates a supervised process. It does not run until `start` is called. */
export function superviseProcess(options: SuperviseOptions): SupervisedProcess {
  return new Supervision(options);
}

class Supervision implements SupervisedProcess {
  readonly name: string;
  readonly #plan: ProcessPlan;
  readonly #say: (line: string) => void;
  readonly #log: LogFile;
  readonly #stopping = new AbortController();
  /** Ends the delay before a restart. */
  #wake = new AbortController();
  #child: Child | undefined;
  #requested: RequestedRestart | undefined;

  constructor({ plan, logDirectory, say }: SuperviseOptions) {
    this.name = plan.name;
    this.#plan = plan;
    this.#say = say;
    this.#log = openLogFile(join(logDirectory, `${plan.name}.log`));
  }

  async start(): Promise<void> {
    const first = this.#launch();
    await first.whenReady;
    void this.#keepRunning(first);
  }

  async restart(): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    const requested = (this.#requested ??= createRequest());
    this.#wake.abort();
    const child = this.#child;
    child?.signal('SIGTERM');
    const kill = setTimeout(() => child?.signal('SIGKILL'), RESTART_GRACE_MS);
    void child?.ended.then(() => {
      clearTimeout(kill);
    });
    await (
      await requested.run
    ).whenReady;
  }

  async stop(): Promise<void> {
    this.#end('SIGTERM');
    await this.#child?.ended;
    this.#log.close();
  }

  kill(): void {
    this.#end('SIGKILL');
  }

  #end(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#stopping.abort();
    this.#wake.abort();
    this.#requested?.cancel();
    this.#child?.signal(signal);
  }

  #launch(): Run {
    const child = (this.#child = startChild({ plan: this.#plan, log: this.#log.write, say: this.#say }));
    return { child, whenReady: waitUntilReady(child, this.#plan, this.#stopping.signal).then(Date.now) };
  }

  async #keepRunning(first: Run): Promise<void> {
    let failures = NO_FAILURES;
    for (let run = first; ;) {
      const ended = await waitForEnd(run);
      if (this.#stopping.signal.aborted) return;
      if (this.#requested === undefined) {
        failures = countFailure(failures, ended);
        await this.#delayRestart(run.child, ended.how, toDelay(failures));
      }
      await this.#waitForPort();
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may be aborted during the delay
      if (this.#stopping.signal.aborted) return;
      run = this.#launch();
      const requested = this.#requested;
      this.#requested = undefined;
      if (requested) failures = NO_FAILURES;
      requested?.begin(run);
      void run.whenReady.then(
        () => {
          if (!requested) this.#say(`${this.name} is ready again`);
        },
        () => undefined,
      );
    }
  }

  async #delayRestart(child: Child, how: string, delayMs: number): Promise<void> {
    this.#say(`${this.name} ended unexpectedly (${how}${toReason(child)}), restarting in ${(delayMs / 1000).toFixed(1)} s`);
    this.#wake = new AbortController();
    await delay(delayMs, undefined, { signal: this.#wake.signal }).catch(() => undefined);
  }

  /** Waits until no other program has the port, or until the process is stopped. Prints one line when it has to wait. */
  async #waitForPort(): Promise<void> {
    const { port } = this.#plan;
    const { signal } = this.#stopping;
    const startedAt = Date.now();
    for (let isSaid = false; !signal.aborted && !(await isFree(port, HOST));) {
      if (!isSaid && Date.now() - startedAt >= PORT_GRACE_MS) {
        this.#say(`${this.name} cannot start: port ${String(port)} is in use by another program. It starts when the port is free.`);
        isSaid = true;
      }
      await delay(PORT_POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}

async function waitForEnd(run: Run): Promise<EndedRun & { how: string }> {
  const ready: { at: number | undefined } = { at: undefined };
  void run.whenReady.then(
    (time) => (ready.at = time),
    () => undefined,
  );
  const how = await run.child.ended;
  return { readyAt: ready.at, endedAt: Date.now(), how };
}

function createRequest(): RequestedRestart {
  let begin: (run: Run) => void = () => undefined;
  let cancel: () => void = () => undefined;
  const run = new Promise<Run>((resolve, reject) => {
    begin = resolve;
    cancel = () => {
      reject(new Error('The process is being stopped'));
    };
  });
  return { run, begin, cancel };
}
function toReason(child: Child): string {
  const reason = child.lastErrors().find((line) => /error/i.test(line));
  return reason === undefined ? '' : `: ${reason.trim()}`;
}

async function waitUntilReady(child: Child, { name, port }: ProcessPlan, signal: AbortSignal): Promise<void> {
  const ended: { how?: string } = {};
  void child.ended.then((how) => (ended.how = how));
  const deadline = Date.now() + READY_TIMEOUT_MS;
  // Another program that has the port may answer.
  while (!child.hasStarted() || !(await isReady(port))) {
    signal.throwIfAborted();
    if (ended.how !== undefined) throw new Error([`${name} did not start (${ended.how}):`, ...child.lastErrors()].join('\n  '));
    if (Date.now() > deadline) throw new Error(`${name} was not ready within ${String(READY_TIMEOUT_MS / 1000)} s. See its log.`);
    await delay(READY_POLL_MS);
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    const { status } = await fetch(`http://${HOST}:${String(port)}/readyz`, { signal: AbortSignal.timeout(2000) });
    return status === 200;
  } catch {
    return false;
  }
}
