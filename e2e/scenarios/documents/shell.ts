/** One Bash shell that runs blocks of a page one after the other, as a reader who pastes them. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { ROOT } from './repository.ts';

export interface Shell {
  /** Runs a block, and resolves when it is done; what runs in the background goes on. Rejects when the shell ends before that. */
  run(code: string): Promise<void>;
  /** Everything printed so far, without the marks at the ends of blocks. */
  output(): string;
  /** Ends the shell and whatever it left running. */
  stop(): Promise<void>;
}

export function openShell(): Shell {
  // A group of its own, so that what runs in the background ends with it.
  const child = spawn('bash', ['--noprofile', '--norc'], { cwd: ROOT, stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  let output = '';
  let onOutput: () => void = () => undefined;
  const add = (chunk: Buffer) => {
    output += chunk.toString();
    onOutput();
  };
  child.stdout.on('data', add);
  // On one pipe, so that everything that a block prints arrives before its mark.
  child.stdin.write('exec 2>&1\n');
  const ended = new Promise<void>((resolve) => child.once('close', resolve));

  return {
    output: () => output,
    run: (code) =>
      new Promise((resolve, reject) => {
        const mark = `${randomUUID()}\n`;
        onOutput = () => {
          if (!output.includes(mark)) return;
          output = output.replace(mark, '');
          resolve();
        };
        child.once('close', () => {
          reject(new Error(`The shell ended:\n${output}`));
        });
        child.stdin.write(`${code}\necho '${mark.trimEnd()}'\n`);
      }),
    async stop() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
      await ended;
    },
  };
}
