/** Watches a file. A replacement by rename counts as a change. */
import { type FSWatcher, watchFile as pollFile, unwatchFile, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** The file is read when it has not changed for this long, because editors write in several steps. */
const SETTLE_MS = 100;

/** Kubernetes mounts files of a ConfigMap as links into this link, which it replaces. */
const MOUNTED = '..data';

/**
 * How often the state of the file is read. The system reports no change when a folder on the path is a link that is replaced, when the folder itself is
 * replaced, and on network file systems.
 */
const POLL_MS = 2000;

export interface FileWatch {
  stop(): void;
}

export interface FileWatchOptions {
  /** The text that is known already. */
  readonly initial: string;
  readonly read: (file: string) => Promise<string>;
  readonly load: (text: string) => Promise<void>;
  readonly refuse: (error: unknown) => void;
  /** Called when the file can be read again after a failure, and its text has not changed since it was loaded or refused. */
  readonly readAgain?: (text: string) => void;
  /** Returns after how many milliseconds the file is read again without a change, by the failures in a row. Default: never. */
  readonly retryAfterMs?: (error: unknown, failures: number) => number | undefined;
}

/**
 * Calls `load` with the text of the file after each change, one at a time. Calls `refuse` when `read` or `load` rejects; the watch continues. A change
 * from `initial` before the watch began counts too.
 */
export function watchFile(file: string, { initial, read, load, refuse, readAgain, retryAfterMs }: FileWatchOptions): FileWatch {
  let last = initial;
  let timer: NodeJS.Timeout | undefined;
  let queue = Promise.resolve();
  let failures = 0;
  let isStopped = false;
  let unreadable: string | undefined;
  const update = async (): Promise<void> => {
    const before = last;
    try {
      const text = await read(file).catch((error: unknown) => {
        if (String(error) === unreadable) return undefined;
        unreadable = String(error);
        throw error;
      });
      if (text === undefined) return;
      const wasUnreadable = unreadable !== undefined;
      unreadable = undefined;
      if (text === last) {
        if (wasUnreadable) readAgain?.(text);
        return;
      }
      last = text;
      await load(text);
      failures = 0;
    } catch (error) {
      refuse(error);
      const delayMs = retryAfterMs?.(error, ++failures);
      if (delayMs === undefined) failures = 0;
      else {
        last = before;
        updateAfter(delayMs);
      }
    }
  };
  const updateAfter = (delayMs: number): void => {
    clearTimeout(timer);
    if (isStopped) return;
    timer = setTimeout(() => {
      queue = queue.then(update);
    }, delayMs);
  };
  const updateWhenSettled = (): void => {
    updateAfter(SETTLE_MS);
  };
  pollFile(file, { interval: POLL_MS, persistent: false }, updateWhenSettled);
  const watcher = watchFolder(file, updateWhenSettled);
  updateWhenSettled();
  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
      unwatchFile(file, updateWhenSettled);
      watcher?.close();
    },
  };
}

/**
 * Watches the folder of the file, because a rename replaces the file. Returns undefined when that is not possible, as with a folder that may not be listed
 * and beyond the system's limit of watches: the file is polled then.
 */
function watchFolder(file: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(dirname(file), (_, name) => {
      if (name === null || name === basename(file) || name === MOUNTED) onChange();
    });
    return watcher.on('error', () => {
      watcher.close();
    });
  } catch {
    return undefined;
  }
}
