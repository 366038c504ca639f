/** Computes the delays between repeated attempts, such as reconnects and restarts. No clock, no I/O. */

/** Bounds the delays, in milliseconds. */
export interface BackoffLimits {
  readonly firstMs: number;
  readonly maxMs: number;
}

/** Returns the delay in milliseconds after this many failures in a row, from 1: `firstMs`, doubled for each further failure, at most `maxMs`. */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** (failures - 1), maxMs);
}
