/** The year in which the demo data is created. It is in the past. Times are whole seconds, as in the databases. */

/** One minute in milliseconds. */
export const MINUTE = 60_000;
/** One hour in milliseconds. */
export const HOUR = 60 * MINUTE;
/** One day in milliseconds. */
export const DAY = 24 * HOUR;

/** Earliest time in the demo data. */
export const STORY_BEGINS = new Date('2024-03-04T08:00:00Z');
/** Latest time in the demo data. */
export const STORY_ENDS = new Date('2025-03-03T18:00:00Z');

/** Returns the time plus a duration in milliseconds, rounded down to the second and at most the end of the year. */
export function later(time: Date, milliseconds: number): Date {
  const moment = Math.min(time.getTime() + milliseconds, STORY_ENDS.getTime());
  return new Date(Math.floor(moment / 1000) * 1000);
}

/** Returns the time at this fraction of the year: 0 is its beginning, 1 its end. */
export function at(share: number): Date {
  return later(STORY_BEGINS, share * (STORY_ENDS.getTime() - STORY_BEGINS.getTime()));
}
