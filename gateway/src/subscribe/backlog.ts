/**
 * Room for the events that wait to be completed, shared by all feeds: clients decide how much of what was missed is told again, and all of them
 * together must not take the process's memory, or every connection to the subgraphs.
 */

/** Beyond so many, feeds ask their sources for nothing more that was missed, and complete one event at a time. */
const MAX_WAITING = 5000;

export class Backlog {
  readonly #maxWaiting: number;
  /** Called when half of the room is free, in the order in which they asked. */
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
    if (this.#waiting > this.#maxWaiting / 2) return;
    // One at a time, since what he asks for comes later; all, when there is nothing any more that would call the next one.
    do {
      const [go] = this.#asking;
      if (!go) return;
      this.#asking.delete(go);
      go();
    } while (this.#waiting === 0);
  }

  /** Calls once, now or when there is room: whoever has had some waits behind those who ask already. */
  ask(go: () => void): void {
    if (this.isFull || this.#asking.size > 0) this.#asking.add(go);
    else go();
  }

  /** Nobody is to be called any more. */
  forget(go: () => void): void {
    this.#asking.delete(go);
  }
}
