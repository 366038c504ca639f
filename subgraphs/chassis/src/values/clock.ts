/** The time in whole seconds: the precision that clients see (spec §2.1) and that `If-Modified-Since` has. */

/** Returns the current time. */
export type Clock = () => Date;

/** Returns the time of the machine, cut to the second. */
export const systemClock: Clock = () => new Date(Math.floor(Date.now() / 1000) * 1000);
