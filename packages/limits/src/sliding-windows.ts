/** Counts units of each key over a sliding window of one minute: exactly, and within a limit of memory. No I/O. */

/** The length of the window (spec §8), in milliseconds. */
export const WINDOW_MS = 60_000;
/** Units that are taken within this time share one entry, which leaves the window with the last of them. */
const RESOLUTION_MS = 100;
const MAX_BYTES = 64 * 1024 * 1024;
/** What a window without entries takes in memory, and one entry; measured, rounded up. */
const WINDOW_BYTES = 320;
const ENTRY_BYTES = 24;
/** Windows that are examined when units are taken, and when memory is short. */
const SWEPT_WINDOWS = 2;
const EXAMINED_WINDOWS = 32;
const MAX_FORGOTTEN = 4;

/** The outcome of taking units. */
export interface Count {
  readonly isAllowed: boolean;
  /** Units that are left in the window. */
  readonly remaining: number;
  /** Milliseconds until the oldest units leave the window; 0 when it is empty. */
  readonly resetMs: number;
  /** Milliseconds until the same units could be taken; 0 when they were. */
  readonly retryMs: number;
  /** Identifies the entry of the units, for a refund. */
  readonly slot: number;
}

/** Counts units of each key. */
export interface SlidingWindows {
  /**
   * Takes units of a key unless more than `limit` of them were then taken within one minute. Nothing is taken otherwise: a refused
   * request does not count. 0 units only reads the count.
   */
  take(key: string, limit: number, units: number): Count;
  /** Returns units that were taken. */
  refund(key: string, units: number, slot: number): void;
  /** The estimated memory of all windows, in bytes. */
  readonly bytes: number;
  /** The number of windows. */
  readonly size: number;
}

/** Configures the counting. */
export interface SlidingWindowsOptions {
  /** The most memory of all windows, in bytes; 64 MiB by default, which is enough for about 150,000 callers in a minute. */
  readonly maxBytes?: number;
  /** Returns milliseconds since any moment; must never go back. `performance.now` by default. */
  readonly now?: () => number;
}

interface Window {
  /** Times and units in turn, oldest first, from `head` on. */
  readonly entries: number[];
  head: number;
  total: number;
}

const EMPTY: Window = { entries: [], head: 0, total: 0 };

/**
 * Creates the counting. Beyond `maxBytes` the window with the fewest units among some is forgotten: a caller that has used up its limit
 * cannot make room for itself by requests under many other keys.
 */
export function createSlidingWindows({ maxBytes = MAX_BYTES, now = () => performance.now() }: SlidingWindowsOptions = {}): SlidingWindows {
  return new BoundedWindows(maxBytes, now);
}

class BoundedWindows implements SlidingWindows {
  readonly #maxBytes: number;
  readonly #now: () => number;
  readonly #windows = new Map<string, Window>();
  #cursor = this.#windows.entries();
  bytes = 0;

  constructor(maxBytes: number, now: () => number) {
    this.#maxBytes = maxBytes;
    this.#now = now;
  }

  get size(): number {
    return this.#windows.size;
  }

  take(key: string, limit: number, units: number): Count {
    const now = Math.floor(this.#now());
    this.#sweep(now, SWEPT_WINDOWS);
    let window = this.#windows.get(key);
    if (window) this.#expire(window, now);
    if ((window?.total ?? 0) + units > limit) return refuse(window ?? EMPTY, { limit, units, now });
    if (units > 0) {
      window ??= this.#open(key);
      this.#add(window, units, now);
      if (this.bytes > this.#maxBytes) this.#makeRoom(now, window);
    }
    const { total, entries, head } = window ?? EMPTY;
    const resetMs = head < entries.length ? (entries[head] as number) + WINDOW_MS - now : 0;
    return { isAllowed: true, remaining: limit - total, resetMs, retryMs: 0, slot: slotOf(now) };
  }

  refund(key: string, units: number, slot: number): void {
    const window = this.#windows.get(key);
    if (!window) return;
    const { entries, head } = window;
    for (let i = entries.length - 2; i >= head && slotOf(entries[i] as number) >= slot; i -= 2) {
      if (slotOf(entries[i] as number) > slot) continue;
      const returned = Math.min(units, entries[i + 1] as number);
      entries[i + 1] = (entries[i + 1] as number) - returned;
      window.total -= returned;
      return;
    }
  }

  #open(key: string): Window {
    const window: Window = { entries: [], head: 0, total: 0 };
    this.#windows.set(key, window);
    this.bytes += sizeOf(key);
    return window;
  }

  #add(window: Window, units: number, now: number): void {
    const { entries } = window;
    const last = entries.length - 2;
    window.total += units;
    if (last >= window.head && slotOf(entries[last] as number) === slotOf(now)) {
      entries[last] = now;
      entries[last + 1] = (entries[last + 1] as number) + units;
    } else {
      entries.push(now, units);
      this.bytes += ENTRY_BYTES;
    }
  }

  /** Removes the entries that have left the window. */
  #expire(window: Window, now: number): void {
    const { entries } = window;
    let { head } = window;
    while (head < entries.length && ((entries[head] as number) + WINDOW_MS <= now || entries[head + 1] === 0)) {
      window.total -= entries[head + 1] as number;
      head += 2;
    }
    window.head = head;
    // Removed in one go from time to time, because each removal moves all that follow.
    if (head > 0 && head * 2 >= entries.length) {
      entries.splice(0, head);
      this.bytes -= (head / 2) * ENTRY_BYTES;
      window.head = 0;
    }
  }

  /** Forgets those of the next windows that are empty. Returns the others. */
  #sweep(now: number, count: number): (readonly [key: string, window: Window])[] {
    const used: (readonly [string, Window])[] = [];
    for (let i = 0; i < count; i++) {
      let next = this.#cursor.next();
      if (next.done === true) {
        this.#cursor = this.#windows.entries();
        next = this.#cursor.next();
        if (next.done === true) break;
      }
      const [key, window] = next.value;
      this.#expire(window, now);
      if (window.total === 0) this.#forget(key, window);
      else used.push(next.value);
    }
    return used;
  }

  #makeRoom(now: number, latest: Window): void {
    // One window that is forgotten may be smaller than the one that is new.
    for (let i = 0; i < MAX_FORGOTTEN && this.bytes > this.#maxBytes; i++) {
      const used = this.#sweep(now, EXAMINED_WINDOWS);
      if (this.bytes <= this.#maxBytes) return;
      let least: (typeof used)[number] | undefined;
      for (const each of used) if (each[1] !== latest && each[1].total < (least?.[1].total ?? Infinity)) least = each;
      if (least) this.#forget(...least);
    }
  }

  #forget(key: string, { entries }: Window): void {
    this.#windows.delete(key);
    this.bytes -= sizeOf(key) + (entries.length / 2) * ENTRY_BYTES;
  }
}

function refuse({ entries, head, total }: Window, { limit, units, now }: { limit: number; units: number; now: number }): Count {
  let free = limit - total;
  let i = head;
  for (; i < entries.length && free < units; i += 2) free += entries[i + 1] as number;
  const retryMs = free < units ? WINDOW_MS : (entries[i - 2] as number) + WINDOW_MS - now;
  return { isAllowed: false, remaining: Math.max(0, limit - total), resetMs: retryMs, retryMs, slot: 0 };
}

function slotOf(time: number): number {
  return Math.floor(time / RESOLUTION_MS);
}

function sizeOf(key: string): number {
  return WINDOW_BYTES + key.length;
}
