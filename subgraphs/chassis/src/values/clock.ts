/** The time as the system keeps it: to the second, which is what clients see (spec §2.1) and what `If-Modified-Since` can say. */

export type Clock = () => Date;

/** The machine's clock, cut to the second. */
export const systemClock: Clock = () => new Date(Math.floor(Date.now() / 1000) * 1000);
