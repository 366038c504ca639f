/** One run of one process: its output goes to a log, and how it ended is told in words. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { toTerminalLine } from './log-lines.ts';
import type { ProcessPlan } from './processes.ts';

export interface Child {
  readonly startedAt: number;
  /** Resolves with how it ended, e.g. `SIGKILL` or `code 1`. */
  readonly ended: Promise<string>;
  /** The last of what it complained about. */
  complaints(): readonly string[];
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

export interface ChildOptions {
  readonly plan: ProcessPlan;
  /** Takes every line for the log file. */
  readonly log: (line: string) => void;
  /** Takes readable warnings and errors for the terminal. */
  readonly say: (line: string) => void;
}

const REMEMBERED_COMPLAINTS = 6;

/** Starts the process. It ends by itself when we do, however we end: our side of its channel closes. */
export function startChild({ plan, log, say }: ChildOptions): Child {
  // Its own process group: Ctrl-C in a terminal must reach us alone, so that all end in order.
  const child = spawn(process.execPath, [...plan.args], { env: { ...plan.env }, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
  const complaints: string[] = [];
  const complain = (line: string) => {
    complaints.push(line);
    if (complaints.length > REMEMBERED_COMPLAINTS) complaints.shift();
  };
  onLine(child.stdout, (line) => {
    log(line);
    const readable = toTerminalLine(plan.name, line);
    if (readable === undefined) return;
    complain(readable);
    say(readable);
  });
  // What does not pass through the log, such as a stack trace from Node itself: told only if the process ends by it.
  onLine(child.stderr, (line) => {
    log(line);
    if (line.trim() !== '') complain(line);
  });
  return {
    startedAt: Date.now(),
    ended: new Promise((resolve) => {
      child.once('error', (error) => {
        resolve(error.message);
      });
      child.once('close', (code, signal) => {
        resolve(signal ?? `code ${String(code)}`);
      });
    }),
    complaints: () => complaints,
    signal: (name) => child.kill(name),
  };
}

function onLine(stream: Readable | null, take: (line: string) => void): void {
  if (stream) createInterface({ input: stream }).on('line', take);
}
