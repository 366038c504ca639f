/** Maintenance mode: while the file `MAINTENANCE_FILE` exists, every request is answered 503 (spec §7.3). */
import { readFile } from 'node:fs/promises';
import { fail } from '@trestle/schema/errors';

/** Watches the maintenance file. */
export interface Maintenance {
  /** Throws SERVICE_UNAVAILABLE with `Retry-After` while the file exists. */
  check(): void;
  /** Stops watching. */
  close(): void;
}

const POLL_INTERVAL_MS = 1000;
const DEFAULT_RETRY_AFTER_SECONDS = 120;

/**
 * Watches for the file at `path`: checks it before the promise resolves, and then once a second. Without a path, maintenance mode is
 * never on. The file may contain the number of seconds for `Retry-After`; the default is 120.
 */
export async function watchMaintenance(path: string | undefined): Promise<Maintenance> {
  let retryAfterSeconds: number | undefined;
  const poll = async () => {
    retryAfterSeconds = path === undefined ? undefined : await readRetryAfter(path);
  };
  await poll();
  const timer = path === undefined ? undefined : setInterval(() => void poll(), POLL_INTERVAL_MS);
  timer?.unref();
  return {
    check() {
      if (retryAfterSeconds !== undefined)
        throw fail('SERVICE_UNAVAILABLE', 'The server is down for maintenance. Retry after the number of seconds in Retry-After.', {
          retryAfterSeconds,
        });
    },
    close() {
      clearInterval(timer);
    },
  };
}

/** Returns undefined when the file does not exist. A file that cannot be read still turns maintenance mode on. */
async function readRetryAfter(path: string): Promise<number | undefined> {
  try {
    const seconds = (await readFile(path, 'utf8')).trim();
    return /^\d{1,6}$/.test(seconds) && Number(seconds) > 0 ? Number(seconds) : DEFAULT_RETRY_AFTER_SECONDS;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : DEFAULT_RETRY_AFTER_SECONDS;
  }
}
