/** The time before which files are swept. */
import type { Query } from '../database/query.ts';

/**
 * Resolves with the time so many seconds ago, by the earlier one of the clocks of the database and of this process: one process whose clock is ahead
 * must not delete what others have just stored, and neither must all of them when the clock of the database jumps.
 */
export async function readSweepTime(query: Query, secondsAgo: number): Promise<Date> {
  const [row] = await query<{ now: Date }>('SELECT now() AS "now"');
  return new Date(Math.min(Date.now(), row?.now.getTime() ?? 0) - secondsAgo * 1000);
}
