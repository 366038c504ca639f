/** Writes log lines in batches. A closed or slow pipe, or a full disk, never blocks the process. */
import { fstatSync, writeSync } from 'node:fs';

/** Buffers lines and writes them together. */
export interface Batch {
  /** Adds one line, including its line feed. */
  write(line: string): void;
  /** Writes the buffered lines now, as far as the output accepts them. */
  flush(): void;
  /** Does the same, but at most 20 ms late when lines were written less than 20 ms ago: many failing requests do not cost a system call each. */
  flushSoon(): void;
}

/** Configures a batch. */
export interface BatchOptions {
  /** Writes bytes and returns how many the output accepted; throws like `fs.writeSync`. Writes to standard output by default. */
  readonly write?: (bytes: Buffer) => number;
  /** Returns how a line, which is JSON, is written; default: unchanged. */
  readonly render?: ((line: string) => string) | undefined;
}

/** Size of the buffer from which lines are written at once. */
const FULL_BYTES = 32 * 1024;
const DELAY_MS = 250;
const BURST_MS = 20;
/** Maximum size of the buffer while the output is blocked. Further lines are dropped and counted. */
const MAX_BYTES = 4 * 1024 * 1024;

const STDOUT = 1;

/** Permanent errors. Other errors are temporary: a full pipe (EAGAIN), a full disk (ENOSPC, EDQUOT), a disk fault (EIO). */
const PERMANENT_ERRORS = new Set(['EPIPE', 'EBADF', 'ECONNRESET', 'EINVAL']);

/** Creates a batch that writes lines at most 250 ms after they were added. Lines that a killed process has buffered are lost. */
export function createBatch({ write = createOutput(), render }: BatchOptions = {}): Batch {
  let lines: string[] = [];
  let size = 0;
  let rest: Buffer = Buffer.alloc(0);
  let dropped = 0;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  let flushedAt = -Infinity;

  const flush = () => {
    if (timer) clearTimeout(timer);
    timer = undefined;
    isSoon = false;
    flushedAt = performance.now();
    const added = Buffer.from(lines.join(''));
    rest = rest.length === 0 ? added : Buffer.concat([rest, added]);
    lines = [];
    try {
      while (rest.length > 0) rest = rest.subarray(write(rest));
      if (dropped > 0) reportDropped();
    } catch (error) {
      if (PERMANENT_ERRORS.has((error as NodeJS.ErrnoException).code ?? '')) {
        isClosed = true;
        rest = Buffer.alloc(0);
      } else wait();
    }
    size = rest.length;
  };
  const wait = () => {
    timer ??= setTimeout(flush, DELAY_MS).unref();
  };
  const reportDropped = () => {
    const line = writeDropped(dropped);
    rest = Buffer.from(render ? render(line) : line);
    dropped = 0;
    rest = rest.subarray(write(rest));
  };

  return {
    flush,
    flushSoon() {
      if (isSoon) return;
      isSoon = performance.now() - flushedAt < BURST_MS;
      if (timer) clearTimeout(timer);
      if (isSoon) timer = setTimeout(flush, BURST_MS).unref();
      else flush();
    },
    write(json) {
      if (isClosed) return;
      if (size >= MAX_BYTES) {
        dropped++;
        return;
      }
      const line = render ? render(json) : json;
      lines.push(line);
      size += line.length;
      if (size - rest.length >= FULL_BYTES && rest.length === 0) flush();
      else wait();
    },
  };
}

/** Creates the function that writes to standard output. */
function createOutput(): (bytes: Buffer) => number {
  let isOpen = false;
  return (bytes) => {
    if (!isOpen) {
      isOpen = true;
      unblockOutput();
    }
    return writeSync(STDOUT, bytes);
  };
}

/**
 * Makes standard output non-blocking when it is a pipe or a socket: otherwise a write waits for the reader, and the process with it. Node.js does so
 * when it opens its own stream. Not when this module is loaded: a process that shares the pipe makes it blocking again when it starts.
 */
function unblockOutput(): void {
  const stats = fstatSync(STDOUT);
  if (stats.isFIFO() || stats.isSocket()) Reflect.get(process, 'stdout');
}

/** Returns the line that says how many were dropped. */
function writeDropped(count: number): string {
  const msg = 'log lines dropped while the output was blocked';
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), count, msg })}\n`;
}
