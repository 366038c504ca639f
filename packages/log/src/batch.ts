/** Writes lines together. A reader that is gone, or full for now, never holds the process that serves. */
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
/** What a slow reader may leave with us; lines beyond it are lost, and counted. */
const MAX_BYTES = 4 * 1024 * 1024;

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
      // Full for now: a later flush goes on. Anything else means that nobody reads any more.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') wait();
      else {
        isGone = true;
        rest = Buffer.alloc(0);
      }
    }
    size = rest.length;
  };
  const wait = () => {
    timer ??= setTimeout(flush, DELAY_MS).unref();
  };
  const tellLoss = () => {
    const line = `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), count: lost, msg: 'log lines lost to a slow reader' })}\n`;
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
