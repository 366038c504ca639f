/** Runs a process once: writes its output to a log and reports how it ended. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { READY_MESSAGE } from '@trestle/service/process/run-process';
import { toTerminalLine } from './log-lines.ts';
import type { ProcessPlan } from './processes.ts';

/** Controls one run of a process. */
export interface Child {
  /** Resolves with how the process ended, such as `SIGKILL` or `code 1`. */
  readonly ended: Promise<string>;
  /** Returns whether the process itself has reported that it has started. */
  hasStarted(): boolean;
  /** Returns the last warnings, errors and lines of standard error, at most six. */
  lastErrors(): readonly string[];
  /** Sends a signal to the process. */
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

/** Configures one run of a process. */
export interface ChildOptions {
  readonly plan: ProcessPlan;
  /** Receives every line of output, for the log file. */
  readonly log: (line: string) => void;
  /** Receives warnings and errors in readable form, for the terminal. */
  readonly say: (line: string) => void;
}

const KEPT_ERRORS = 6;

/** The options of Node.js that this process was started with go to each process, except those of a debugger: only one process can have its port. */
const OWN_OPTIONS = process.execArgv.filter((option) => !option.startsWith('--inspect'));

/** Starts the process. It ends when this process ends in any way, because its IPC channel is then closed. */
export function startChild({ plan, log, say }: ChildOptions): Child {
  // In its own process group, so that Ctrl-C in a terminal reaches only the supervisor, which stops the processes in order.
  const args = [...OWN_OPTIONS, ...plan.args];
  const child = spawn(process.execPath, args, { env: { ...plan.env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
  const errors: string[] = [];
  const keep = (line: string) => {
    errors.push(line);
    if (errors.length > KEPT_ERRORS) errors.shift();
  };
  onLine(child.stdout, (line) => {
    log(line);
    const readable = toTerminalLine(plan.name, line);
    if (readable === undefined) return;
    keep(readable);
    say(readable);
  });
  // Standard error has what the log does not, such as a stack trace from Node.js. It is printed only when the process ends.
  onLine(child.stderr, (line) => {
    log(line);
    if (line.trim() !== '') keep(line);
  });
  let hasStarted = false;
  child.on('message', (message) => {
    if (message === READY_MESSAGE) hasStarted = true;
  });
  return {
    hasStarted: () => hasStarted,
    ended: new Promise((resolve) => {
      child.once('error', (error) => {
        resolve(error.message);
      });
      child.once('close', (code, signal) => {
        resolve(signal ?? `code ${String(code)}`);
      });
    }),
    lastErrors: () => errors,
    signal: (name) => child.kill(name),
  };
}

function onLine(stream: Readable | null, listener: (line: string) => void): void {
  if (stream) createInterface({ input: stream }).on('line', listener);
}
