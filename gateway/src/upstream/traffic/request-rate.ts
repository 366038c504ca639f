/** Limits how many requests a subgraph gets in a second. No I/O. */

export interface RequestRate {
  /** Counts a request. Returns false, and counts nothing, when it would exceed the limit. */
  take(): boolean;
}

export interface RequestRateOptions {
  /** A monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
  /** How many requests are allowed in a second, and at once after a second without any; 0 for no limit. */
  readonly perSecond: number;
}

const NO_LIMIT: RequestRate = { take: () => true };

/** Creates the limit, as a token bucket: each request takes a token, and `perSecond` tokens are added in a second. */
export function createRequestRate({ perSecond, now = () => performance.now() }: RequestRateOptions): RequestRate {
  if (perSecond === 0) return NO_LIMIT;
  let tokens = perSecond;
  let at = now();
  return {
    take() {
      const time = now();
      tokens = Math.min(perSecond, tokens + ((time - at) / 1000) * perSecond);
      at = time;
      if (tokens < 1) return false;
      tokens--;
      return true;
    },
  };
}
