/** Keeps the trusted documents equal to their file. */
import { readFile } from 'node:fs/promises';
import type { Log } from '@trestle/log';
import { watchFile } from './configuration/file/watch-file.ts';
import { type TrustedDocuments, readTrustedDocuments } from './documents/trusted.ts';

export interface TrustedDocumentsWatch {
  /** Returns the documents of the last valid file; undefined where none are configured. */
  readonly read: () => TrustedDocuments | undefined;
  stop(): void;
}

export interface TrustedDocumentsOptions {
  /** Undefined where no documents are trusted. */
  readonly file: string | undefined;
  readonly initial: TrustedDocuments | undefined;
  readonly log: Log;
}

/** Watches the file. One that is not valid is refused and logged, and the last documents stay. */
export function watchTrustedDocuments({ file, initial, log }: TrustedDocumentsOptions): TrustedDocumentsWatch {
  let trusted = initial;
  if (file === undefined || !initial) return { read: () => trusted, stop: () => undefined };
  const watch = watchFile(file, {
    initial: initial.source,
    read: (path) => readFile(path, 'utf8'),
    load: (text) => {
      trusted = readTrustedDocuments(text);
      log.info('loaded changed trusted documents');
      return Promise.resolve();
    },
    refuse: (error) => {
      log.error('refused changed trusted documents; the last ones stay', { error });
    },
  });
  return {
    read: () => trusted,
    stop: () => {
      watch.stop();
    },
  };
}
