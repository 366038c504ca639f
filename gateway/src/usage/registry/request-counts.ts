/** What the registry has of the requests of a row: how many, how many with errors, and how long they took. No I/O. */
import type { RequestEnd } from '../open-request.ts';
import type { RowCounts } from '../usage-log.ts';

/** Durations are counted in classes: below 0.25 ms, and then up to twice as much each; the last one has no end. */
export const DURATION_CLASSES = 18;
const CLASSES_PER_MS = 4;

export class RequestCounts implements RowCounts {
  count = 0;
  errors = 0;
  readonly durations = new Array<number>(DURATION_CLASSES).fill(0);

  add({ ms, isError }: Pick<RequestEnd, 'ms' | 'isError'>): number {
    this.count++;
    if (isError) this.errors++;
    const at = toDurationClass(ms);
    this.durations[at] = (this.durations[at] ?? 0) + 1;
    return 0;
  }
}

/** Returns the class of a duration, from 0 on. */
export function toDurationClass(ms: number): number {
  const units = ms * CLASSES_PER_MS;
  return units >= 2 ** (DURATION_CLASSES - 2) ? DURATION_CLASSES - 1 : 32 - Math.clz32(units);
}
