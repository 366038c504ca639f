/** Watches the supergraph file. A replacement by rename counts as a change. */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** The file is read when it has not changed for this long, because editors write in several steps. */
const SETTLE_MS = 100;

export interface SupergraphWatch {
  stop(): void;
}

/**
 * Calls `load` with each new text of the file, one at a time. Calls `refuse` when the file cannot be read and when `load` rejects; the watch
 * continues.
 */
export function watchSupergraph(
  file: string,
  { initial, load, refuse }: { initial: string; load: (sdl: string) => Promise<void>; refuse: (error: unknown) => void },
): SupergraphWatch {
  let last = initial;
  let timer: NodeJS.Timeout | undefined;
  let queue = Promise.resolve();
  const read = async (): Promise<void> => {
    try {
      const sdl = await readFile(file, 'utf8');
      if (sdl === last) return;
      last = sdl;
      await load(sdl);
    } catch (error) {
      refuse(error);
    }
  };
  // A rename replaces the file, so the directory is watched.
  const watcher = watch(dirname(file), (_, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      queue = queue.then(read);
    }, SETTLE_MS);
  });
  watcher.on('error', refuse);
  return {
    stop() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
