/** Writes lines together. A reader that is gone or slow, or a disk that is full, never holds up the process that serves. */
import { writeSync } from 'node:fs';

export interface Batch {
  /** Takes one line, with its line feed. */
  write(line: string): void;
  /** Writes what is there now, as far as the reader takes it. */
  flush(): void;
}

export interface BatchOptions {
  /** Writes as much as the reader takes and gives how many bytes that was; throws as `writeSync` does. */
  readonly write?: (bytes: Buffer) => number;
}

/** From here on lines are written without waiting for more. */
const FULL_BYTES = 32 * 1024;
const DELAY_MS = 250;
/** Bytes that are kept while they cannot be written; lines beyond them are lost, and counted. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Errors after which nobody will read any more. All others may pass: a full pipe (EAGAIN), a full disk (ENOSPC, EDQUOT), a failing one (EIO). */
const ENDINGS = new Set(['EPIPE', 'EBADF', 'ECONNRESET', 'EINVAL']);

/** Lines go to standard output at most a quarter of a second late; what a killed process still held is lost. */
export function createBatch({ write = (bytes) => writeSync(1, bytes) }: BatchOptions = {}): Batch {
  let lines: string[] = [];
  let size = 0;
  let rest: Buffer = Buffer.alloc(0);
  let lost = 0;
  let isGone = false;
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = undefined;
    rest = Buffer.concat([rest, Buffer.from(lines.join(''))]);
    lines = [];
    try {
      while (rest.length > 0) rest = rest.subarray(write(rest));
      if (lost > 0) tellLoss();
    } catch (error) {
      if (ENDINGS.has((error as NodeJS.ErrnoException).code ?? '')) {
        isGone = true;
        rest = Buffer.alloc(0);
      } else wait();
    }
    size = rest.length;
  };
  const wait = () => {
    timer ??= setTimeout(flush, DELAY_MS).unref();
  };
  const tellLoss = () => {
    const line = `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), count: lost, msg: 'log lines lost while the output took none' })}\n`;
    lost = 0;
    rest = Buffer.from(line);
    rest = rest.subarray(write(rest));
  };

  return {
    flush,
    write(line) {
      if (isGone) return;
      if (size >= MAX_BYTES) {
        lost++;
        return;
      }
      lines.push(line);
      size += line.length;
      if (size - rest.length >= FULL_BYTES && rest.length === 0) flush();
      else wait();
    },
  };
}
