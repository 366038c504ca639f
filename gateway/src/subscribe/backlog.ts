/**
 * Room for the events that wait to be completed, shared by all feeds: clients decide how much of what was missed is told again, and all of them
 * together must not take the process's memory, or every connection to the subgraphs.
 */

/** Beyond so many, feeds that can wait are asked to, and the others complete one event at a time. */
const MAX_WAITING = 5000;

export class Backlog {
  readonly #maxWaiting: number;
  /** Called when there is room, in the order in which they asked; they ask again when it is not theirs. */
  readonly #asking = new Set<() => void>();
  #waiting = 0;

  constructor(maxWaiting = MAX_WAITING) {
    this.#maxWaiting = maxWaiting;
  }

  get size(): number {
    return this.#waiting;
  }

  get isFull(): boolean {
    return this.#waiting >= this.#maxWaiting;
  }

  add(): void {
    this.#waiting++;
  }

  remove(count = 1): void {
    this.#waiting -= count;
    // With half of it free, so that not every event starts and stops somebody.
    if (this.#waiting > this.#maxWaiting / 2) return;
    for (const go of this.#asking) {
      if (this.isFull) return;
      this.#asking.delete(go);
      go();
    }
  }

  /** Calls once, as soon as there is room. */
  ask(go: () => void): void {
    this.#asking.add(go);
  }

  /** Nobody is to be called any more. */
  forget(go: () => void): void {
    this.#asking.delete(go);
  }
}
