/** How many units of rate limits the primary grants a worker in advance. */
import type { SlidingWindows } from '@trestle/limits/sliding-windows';
import type { Take, Taken } from './messages.ts';

/**
 * Units are granted only while a key has used less than half of its limit, and of what is left until then a worker gets at most this share. So a client
 * is refused too early only when it takes half of its limit within the 100 ms of a grant, and at most by this share for each worker.
 */
const SHARE = 1 / 32;

/** Takes units of a key as `SlidingWindows.take` does, and units in advance. Those are granted only when the units themselves are. */
export function takeAndGrant(windows: SlidingWindows, { key, limit, units, advance }: Take): Taken {
  const count = windows.take(key, limit, units);
  const granted = Math.min(advance, Math.floor((count.remaining - limit / 2) * SHARE));
  if (!count.isAllowed || granted <= 0) return { ...count, granted: 0 };
  const { slot } = windows.take(key, limit, granted);
  return { ...count, slot, granted };
}
