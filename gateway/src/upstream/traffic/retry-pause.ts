/** How long a query waits before it is sent again after a response with a status that is retried. No I/O. */

/** Without `Retry-After`: the subgraph may be restarting, or its proxy may have another server for the next request. */
const PAUSE_MS = 50;
/** Added at random, so that the queries that failed together do not come back together. */
const JITTER_MS = 100;

/** A date as servers send it (RFC 9110 §5.6.7); the obsolete forms count as none. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** What a pause depends on. */
export interface PauseOptions {
  /** How much time the request has left for the pause and for the next response. */
  readonly leftMs: number;
  /** The time of the day, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** From 0 to 1. Default: `Math.random`. */
  readonly random?: () => number;
}

/**
 * Returns the pause in milliseconds: what `Retry-After` asks for (RFC 9110 §10.2.3), else a short one. Returns undefined when the request does not have that
 * much time left, so that it is not sent again. A value that is neither a number of seconds nor a date counts as none.
 */
export function toRetryPause(
  retryAfter: string | undefined,
  { leftMs, now = Date.now, random = Math.random }: PauseOptions,
): number | undefined {
  const pauseMs = (readRetryAfter(retryAfter, now) ?? PAUSE_MS) + random() * JITTER_MS;
  return pauseMs < leftMs ? pauseMs : undefined;
}

/** Returns milliseconds; 0 for a date that has passed; undefined for another value. More digits than a number can hold are Infinity. */
function readRetryAfter(value: string | undefined, now: () => number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = DATE.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - now());
}
