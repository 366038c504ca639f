/** Keeps files in a directory of this machine. Several processes may share it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fail } from '@trestle/schema/errors';
import { type FileStat, type FileStore, type StoredFile, checkKey, measure } from './file-store.ts';

/** Holds files that are still being written. Its name is no valid key. */
const UNFINISHED = '.unfinished';

/**
 * Creates the store in the directory `root`, which is created when it is first needed. A file is written under a temporary name, flushed to the
 * disk, and then renamed; the rename is flushed too before `put` resolves.
 */
export function createLocalStore(root: string): FileStore {
  const toPath = (key: string): string => {
    checkKey(key);
    return join(root, ...key.split('/'));
  };
  return {
    put: (key, content, options) => put({ root, key, path: toPath(key) }, measure(content, options), options.signal),

    async open(key, range) {
      // `createReadStream` refuses it too, but keeps the file open.
      if (range && !(range.start >= 0 && range.start <= range.end))
        throw new RangeError(`The range ${String(range.start)}-${String(range.end)} is not valid.`);
      const handle = await ifExists(open(toPath(key), 'r'));
      return handle && createReadStream('', { fd: handle, ...(range && { start: range.start, end: range.end }) });
    },

    async stat(key) {
      const found = await ifExists(stat(toPath(key)));
      return found?.isFile() ? { key, size: found.size, modifiedAt: found.ctime } : undefined;
    },

    delete: (key) => rm(toPath(key), { force: true }),

    async *list(prefix) {
      for await (const file of walk(root)) {
        const key = relative(root, file.path).split(sep).join('/');
        if (key.startsWith(prefix) && !key.startsWith(UNFINISHED)) yield { key, size: file.size, modifiedAt: file.modifiedAt };
      }
    },

    async removeUnfinished(before) {
      for await (const { path, modifiedAt } of walk(join(root, UNFINISHED))) if (modifiedAt < before) await rm(path, { force: true });
    },

    presignPut: undefined,
    close: () => undefined,
  };
}

interface Place {
  readonly root: string;
  readonly key: string;
  readonly path: string;
}

async function put(
  { root, key, path }: Place,
  { content, result }: ReturnType<typeof measure>,
  signal: AbortSignal | undefined,
): Promise<StoredFile> {
  const draft = join(root, UNFINISHED, randomUUID());
  try {
    for (const folder of [dirname(draft), dirname(path)]) await mkdir(folder, { recursive: true, mode: 0o700 });
    await write(content, { draft, signal });
    await rename(draft, path);
    await flushFolder(dirname(path));
    return { key, ...result() };
  } catch (error) {
    await rm(draft, { force: true });
    throw isFull(error) ? fail('SERVICE_UNAVAILABLE', 'The server has no space left for files.', { cause: error }) : error;
  }
}

/** Resolves when the content is on disk. Rejects when it cannot be written or read, and when the signal is aborted, even while the content stalls; the draft is closed then. */
async function write(
  content: AsyncIterable<Uint8Array>,
  { draft, signal }: { draft: string; signal: AbortSignal | undefined },
): Promise<void> {
  const target = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
  const closed = once(target, 'close');
  const written = pipeline(Readable.from(content, { objectMode: false }), target, { signal });
  // Nobody waits for the one that comes second.
  for (const promise of [closed, written]) promise.catch(() => undefined);
  if (!signal) return written;
  const over = new AbortController();
  // In Node.js 22 and later an aborted pipeline waits for its source, which may never continue.
  const aborted = once(signal, 'abort', { signal: over.signal }).then(() => closed);
  try {
    await Promise.race([written, aborted]);
    signal.throwIfAborted();
  } finally {
    over.abort();
  }
}

/** Without it a power failure could undo the rename. */
async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

interface Found extends Omit<FileStat, 'key'> {
  readonly path: string;
}

/** Finds the files below a folder, one folder entry at a time. Files that disappear meanwhile are left out. */
async function* walk(folder: string): AsyncGenerator<Found> {
  const entries = await ifExists(opendir(folder));
  if (!entries) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) {
      const found = await ifExists(stat(path));
      if (found) yield { path, size: found.size, modifiedAt: found.ctime };
    }
  }
}

/** Resolves with undefined in place of the error that a file does not exist. */
async function ifExists<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
