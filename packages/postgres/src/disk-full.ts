/** Recognizes a full disk, whichever program met it, and says so in one way. */

/** What the C library, Node.js and PostgreSQL (53100) say when a disk, or this user's share of it, is full. */
const DISK_FULL = /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT|disk full/i;
const CODES = ['ENOSPC', 'EDQUOT', '53100'];

/** Whether an error, one of its causes, or the output of a program tells of a full disk. */
export function isDiskFull(failure: unknown): boolean {
  if (typeof failure === 'string') return DISK_FULL.test(failure);
  if (!(failure instanceof Error)) return false;
  const { code } = failure as { code?: unknown };
  return (typeof code === 'string' && CODES.includes(code)) || DISK_FULL.test(failure.message) || isDiskFull(failure.cause);
}

/** An error for a person: which disk is full, and what to do. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError';
}

/** Returns the error for a person; `path` is what could not be written. An error that is one already stays as it is. */
export function toDiskFullError(path: string, cause: unknown): Error {
  if (cause instanceof DiskFullError) return cause;
  const message = `The disk that holds ${path} is full. Free some space on it, or set DATA_DIR to a directory on another disk, and start again.`;
  return new DiskFullError(`${message} Existing data is unchanged.`, { cause });
}
