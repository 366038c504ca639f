/** Watches several files that are only valid together, such as a certificate and its key. */
import { readFile } from 'node:fs/promises';
import type { Log } from '@trestle/log';
import { type FileWatch, watchFile } from '../configuration/file/watch-file.ts';

export interface FilesWatchOptions {
  readonly files: readonly string[];
  /** What is read, for the log. */
  readonly subject: string;
  /** Reads all files again and applies them. Throws an Error when they are not valid: then the last valid ones must stay in use. */
  readonly reload: () => void;
  readonly log: Log;
}

/**
 * Calls `reload` after a change of any file. Files that do not fit together are refused and logged: when a certificate is replaced before its key, the
 * change of the key brings both.
 */
export function watchFiles({ files, subject, reload, log }: FilesWatchOptions): FileWatch {
  const watches = [...new Set(files)].map((file) =>
    watchFile(file, {
      // Not the text of the start: a change between the start and this moment must count.
      initial: '',
      read: (path) => readFile(path, 'utf8'),
      load: () => {
        reload();
        return Promise.resolve();
      },
      refuse: (error) => {
        log.error(`refused changed files of ${subject}; the last ones stay in use`, { error });
      },
    }),
  );
  return {
    stop: () => {
      for (const watch of watches) watch.stop();
    },
  };
}
