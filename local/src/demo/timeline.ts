/** When the demo's story takes place: a year that is over, on every machine's clock. Times are whole seconds, as in the databases. */

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const STORY_BEGINS = new Date('2024-03-04T08:00:00Z');
export const STORY_ENDS = new Date('2025-03-03T18:00:00Z');

/** A moment so much later, cut to the second, and never after the end of the story. */
export function later(time: Date, milliseconds: number): Date {
  const moment = Math.min(time.getTime() + milliseconds, STORY_ENDS.getTime());
  return new Date(Math.floor(moment / 1000) * 1000);
}

/** The moment at this share of the story: 0 is its beginning, 1 its end. */
export function at(share: number): Date {
  return later(STORY_BEGINS, share * (STORY_ENDS.getTime() - STORY_BEGINS.getTime()));
}
