/** Recognizes the errors of a full disk, and replaces them with one message. */

/** Messages of the C library, Node.js and PostgreSQL (53100) for a full disk or an exceeded disk quota. */
const DISK_FULL = /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT|disk full/i;
const CODES = ['ENOSPC', 'EDQUOT', '53100'];

/** Returns whether an error, one of its causes, or the output of a program reports a full disk. */
export function isDiskFull(failure: unknown): boolean {
  if (typeof failure === 'string') return DISK_FULL.test(failure);
  if (!(failure instanceof Error)) return false;
  const { code } = failure as { code?: unknown };
  return (typeof code === 'string' && CODES.includes(code)) || DISK_FULL.test(failure.message) || isDiskFull(failure.cause);
}

/** Reports which disk is full, and what to do. */
export class DiskFullError extends Error {
  override readonly name = 'DiskFullError';
}

/** Returns a DiskFullError for a path that could not be written. Returns `cause` itself when it is one already. */
export function toDiskFullError(path: string, cause: unknown): Error {
  if (cause instanceof DiskFullError) return cause;
  const message = `The disk that holds ${path} is full. Free some space on it, or set DATA_DIR to a directory on another disk, and start again.`;
  return new DiskFullError(`${message} Existing data is unchanged.`, { cause });
}
