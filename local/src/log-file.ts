/** The log file of one process. It is rotated by size, so that logs do not fill the disk. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { createBatch } from '@trestle/log/batch';

/** Writes a log file. */
export interface LogFile {
  /** Appends a line. */
  readonly write: (line: string) => void;
  /** Writes buffered lines and closes the file. */
  readonly close: () => void;
}

/** Size at which the file is rotated. It and the previous file together exceed twice this size by at most one batch. */
const MAX_BYTES = 50 * 1024 * 1024;

/**
 * Opens a log file for appending. When it has `maxBytes` or more, it is renamed to `<path>.1`, which replaces the previous such file.
 * A full disk does not end the process: see `createBatch`.
 */
export function openLogFile(path: string, maxBytes = MAX_BYTES): LogFile {
  let file: { readonly descriptor: number; bytes: number } | undefined;
  const open = () => {
    const descriptor = openSync(path, 'a', 0o600);
    return { descriptor, bytes: fstatSync(descriptor).size };
  };
  const close = () => {
    if (file !== undefined) closeSync(file.descriptor);
    file = undefined;
  };
  const batch = createBatch({
    write(bytes) {
      file ??= open();
      if (file.bytes >= maxBytes) {
        close();
        renameSync(path, `${path}.1`);
        file = open();
      }
      const written = writeSync(file.descriptor, bytes);
      file.bytes += written;
      return written;
    },
  });
  return {
    write: (line) => {
      batch.write(`${line}\n`);
    },
    close() {
      batch.flush();
      close();
    },
  };
}
