/** Takes one piece of work through an admission, from its entry to its end. */
import type { Admission } from './admission.ts';
import type { Slot, Task } from './client-queues.ts';

/** One piece of work from its entry into the admission to its end. */
export class Turn {
  readonly #admission: Admission;
  readonly #work: Pick<Task, 'client' | 'bytes'>;
  #task: Task | undefined;
  #slot: Slot | undefined;
  #hasEnded = false;

  constructor(admission: Admission, work: Pick<Task, 'client' | 'bytes'>) {
    this.#admission = admission;
    this.#work = work;
  }

  /** Whether the work was admitted. */
  get hasBegun(): boolean {
    return this.#slot !== undefined;
  }

  /** Calls `proceed` when the work is admitted, unless it has ended before. Returns false when it may not even wait. */
  take(proceed: () => void): boolean {
    const begin = (slot: Slot) => {
      this.#slot = slot;
      if (this.#hasEnded) slot.release();
      else this.#admission.measure(this.#work.client, proceed);
    };
    this.#task = { ...this.#work, begin };
    return this.#admission.enter(this.#task);
  }

  /**
   * To be called when the client has disconnected. Work that has begun goes on, and counts as in flight until it is two seconds old: a client that
   * only begins requests must not cause more work than one that waits for responses (CVE-2023-44487).
   */
  abandon(): void {
    if (!this.#slot) this.end();
  }

  /** To be called when the work is done or no longer needed. */
  end(): void {
    this.#hasEnded = true;
    if (this.#slot) this.#slot.release();
    else if (this.#task) this.#admission.leave(this.#task);
  }
}
