/** `trestle dev` as a process of a terminal, with what it has written. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '../../stack/clients/client.ts';

/** A running `trestle dev`. */
export interface DevCommand {
  readonly pid: number;
  /** What it has written to standard output and standard error. */
  readonly output: () => string;
  /** Resolves when it has written the text, or what matches, behind the first `from` characters. Rejects when it ends before that. */
  readonly says: (text: string | RegExp, from?: number) => Promise<void>;
  /** Resolves with the exit code when it ends. */
  readonly ended: Promise<number | null>;
  /** Sends a signal, and resolves with the exit code. */
  readonly end: (signal: 'SIGINT' | 'SIGKILL') => Promise<number | null>;
}

/** Starts the command in a folder. */
export function startDev(command: string, args: readonly string[], options: { cwd: string; env: Record<string, string> }): DevCommand {
  const child = spawn(process.execPath, [command, 'dev', ...args], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    pid: child.pid ?? 0,
    output: () => output,
    async says(text, from = 0) {
      const isSaid = () => {
        const later = output.slice(from);
        return typeof text === 'string' ? later.includes(text) : text.test(later);
      };
      await until(() => Promise.resolve(isSaid() || child.exitCode !== null));
      if (!isSaid()) throw new Error(`trestle dev ended before it said ${String(text)}:\n${output}`);
    },
    ended,
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
