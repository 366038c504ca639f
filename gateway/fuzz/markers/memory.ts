/** Judges whether the memory of a process stays flat under a load. No I/O. */

/** The memory is compared in these parts of the time; the first is for warming up. */
export const PARTS = 4;
/** How much higher the memory of the last part may be than that of the second: RSS has noise of some percent. */
const MAX_GROWTH = 1.1;

export interface MemoryVerdict {
  readonly isFlat: boolean;
  /** The median of each part, in bytes. */
  readonly medians: readonly number[];
  readonly peaks: readonly number[];
}

/** Compares samples that were taken at equal intervals. */
export function judgeMemory(samples: readonly number[]): MemoryVerdict {
  const size = samples.length / PARTS;
  const parts = Array.from({ length: PARTS }, (_, i) => samples.slice(Math.floor(i * size), Math.floor((i + 1) * size)));
  const medians = parts.map((part) => [...part].sort((a, b) => a - b)[part.length >> 1] ?? 0);
  const [, second = 0] = medians;
  return { isFlat: (medians.at(-1) ?? 0) <= second * MAX_GROWTH, medians, peaks: parts.map((part) => Math.max(0, ...part)) };
}
