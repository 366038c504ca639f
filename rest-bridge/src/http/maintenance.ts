/** The maintenance switch: while a certain file exists, everything is answered 503 (spec §7.3). */
import { readFile } from 'node:fs/promises';
import { fail } from '@trestle/schema/errors';

export interface Maintenance {
  /** Throws SERVICE_UNAVAILABLE while the file is there. */
  check(): void;
  close(): void;
}

const LOOK_EVERY_MS = 1000;
const DEFAULT_RETRY_AFTER_SECONDS = 120;

/**
 * Looks for the file once a second, and once before it returns; without a path there is no switch. The file may hold the seconds
 * after which clients should come back.
 */
export async function watchMaintenance(path: string | undefined): Promise<Maintenance> {
  let retryAfterSeconds: number | undefined;
  const look = async () => {
    retryAfterSeconds = path === undefined ? undefined : await readSwitch(path);
  };
  await look();
  const timer = path === undefined ? undefined : setInterval(() => void look(), LOOK_EVERY_MS);
  timer?.unref();
  return {
    check() {
      if (retryAfterSeconds !== undefined)
        throw fail('SERVICE_UNAVAILABLE', 'Down for maintenance; please come back later', { retryAfterSeconds });
    },
    close() {
      clearInterval(timer);
    },
  };
}

/** A file that is there and can't be read still means maintenance. */
async function readSwitch(path: string): Promise<number | undefined> {
  try {
    const seconds = (await readFile(path, 'utf8')).trim();
    return /^\d{1,6}$/.test(seconds) && Number(seconds) > 0 ? Number(seconds) : DEFAULT_RETRY_AFTER_SECONDS;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : DEFAULT_RETRY_AFTER_SECONDS;
  }
}
