/** Those who wait until this process has read beyond a position. No I/O. */

/** Waits of any number of readers. */
export interface ProgressWaiters {
  /**
   * Resolves when the position is beyond the given one, or when the signal is aborted. Also when it is before the given one: the database was
   * restored and counts again, so that the position which is waited for may never come.
   */
  readonly wait: (beyond: number, signal: AbortSignal) => Promise<void>;
  /** Called when the position may have changed. */
  readonly wake: () => void;
}

/** Creates the waits for the position that `position` returns. */
export function createProgressWaiters(position: () => number): ProgressWaiters {
  const waiting = new Set<() => void>();
  return {
    wait(beyond, signal) {
      const isOver = () => position() !== beyond || signal.aborted;
      if (isOver()) return Promise.resolve();
      return new Promise<void>((resolve) => {
        const check = () => {
          if (!isOver()) return;
          waiting.delete(check);
          signal.removeEventListener('abort', check);
          resolve();
        };
        waiting.add(check);
        signal.addEventListener('abort', check);
      });
    },
    wake() {
      for (const check of waiting) check();
    },
  };
}
