/** Watches the file of the supergraph and hands over each new text (a replacement by rename counts). */
import { watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** Editors write in several steps; the text is read when they have been still for this long. */
const STILL_MS = 100;

export interface SupergraphWatch {
  stop(): void;
}

/**
 * Calls `take` with each text that differs from the last one that was read, one after the other.
 * A file that can't be read, or a text that `take` rejects, goes to `refuse`; watching goes on.
 */
export function watchSupergraph(
  file: string,
  { initial, take, refuse }: { initial: string; take: (sdl: string) => Promise<void>; refuse: (error: unknown) => void },
): SupergraphWatch {
  let last = initial;
  let timer: NodeJS.Timeout | undefined;
  let queue = Promise.resolve();
  const read = async (): Promise<void> => {
    try {
      const sdl = await readFile(file, 'utf8');
      if (sdl === last) return;
      last = sdl;
      await take(sdl);
    } catch (error) {
      refuse(error);
    }
  };
  // The directory is watched, since a rename puts another file in the place of the one that was there.
  const watcher = watch(dirname(file), (_, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => {
      queue = queue.then(read);
    }, STILL_MS);
  });
  watcher.on('error', refuse);
  return {
    stop() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
