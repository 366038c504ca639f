/** Percentiles of counted classes of durations. No I/O. */

/** The end of the first class; each further one ends at twice the one before. */
const FIRST_MS = 0.25;

/** Returns the end of the class in which the given share of the requests has ended, in milliseconds; 0 without requests. */
export function percentileMs(durations: readonly number[], share: number): number {
  let left = durations.reduce((sum, each) => sum + each, 0) * share;
  if (left === 0) return 0;
  const at = durations.findIndex((count) => (left -= count) <= 0);
  return FIRST_MS * 2 ** (at === -1 ? durations.length - 1 : at);
}
