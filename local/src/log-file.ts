/** The log of one process: lines are appended, and a file that has become too large is put aside, so that logs never fill the disk. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { createBatch } from '@trestle/log/batch';

export interface LogFile {
  readonly write: (line: string) => void;
  readonly close: () => void;
}

/** The file and the one that was put aside before it have at most twice as many bytes together, and a line. */
const MAX_BYTES = 50 * 1024 * 1024;

/**
 * Appends to the log of earlier runs. A file of `maxBytes` or more is renamed to `<path>.1`, in the place of the one that was put aside before it.
 * A full disk ends nothing: see `createBatch`.
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
