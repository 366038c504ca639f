/** Counts durations in the classes of GraphOS: class n has those up to 1.1^n µs. No I/O. */

const CLASSES = 384;
const LOG_OF_GROWTH = Math.log(1.1);
const US_PER_MS = 1000;
/** What a class that is not empty takes in memory. */
const CLASS_BYTES = 24;

export class LatencyHistogram {
  readonly #counts = new Map<number, number>();

  /** Counts a duration. Returns about how many bytes more it takes; undefined without having counted it, when it must take none. */
  add(ms: number, isFull: boolean): number | undefined {
    const at = toLatencyClass(ms);
    return isFull && !this.#counts.has(at) ? undefined : this.#count(at, 1);
  }

  /** Adds the counts of another one. */
  merge(other: LatencyHistogram): void {
    for (const [at, count] of other.#counts) this.#count(at, count);
  }

  /** Returns the counts in the order of the classes. A number below 0 stands for so many classes without a duration. */
  toArray(): number[] {
    const counts: number[] = [];
    let next = 0;
    for (const [at, count] of [...this.#counts].sort(([left], [right]) => left - right)) {
      const empty = at - next;
      if (empty > 0) counts.push(empty === 1 ? 0 : -empty);
      counts.push(count);
      next = at + 1;
    }
    return counts;
  }

  #count(at: number, count: number): number {
    const before = this.#counts.get(at);
    this.#counts.set(at, (before ?? 0) + count);
    return before === undefined ? CLASS_BYTES : 0;
  }
}

/** Returns the class of a duration, from 0 on; the last one has no end. */
export function toLatencyClass(ms: number): number {
  const us = ms * US_PER_MS;
  return us <= 1 ? 0 : Math.min(Math.ceil(Math.log(us) / LOG_OF_GROWTH), CLASSES - 1);
}
