/**
 * Room for the events that wait to be completed, shared by all feeds: clients decide how much of what was missed is told again, and all of them
 * together must not take the process's memory, or every connection to the subgraphs.
 */
import { PAGE } from './source-stream.ts';

/** Beyond so many, feeds ask their sources for nothing more that was missed, and complete one event at a time. */
const MAX_WAITING = 5000;

/** So long the first word of the answer is waited for: who does not answer must not keep the room from others. */
const ANSWER_MS = 1000;

export class Backlog {
  readonly #maxWaiting: number;
  /** Called when half of the room is free, in the order in which they asked. */
  readonly #asking = new Set<() => void>();
  #waiting = 0;
  #granted = 0;

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
    this.#letIn(this.#maxWaiting / 2);
  }

  /** Calls once, now or when there is room: whoever has had some waits behind those who ask already. He says `answered` then, once. */
  ask(go: () => void): void {
    this.#asking.add(go);
    if (this.#asking.size === 1) this.#letIn(this.#maxWaiting);
  }

  /** What somebody who was let in has asked for has begun to come, or will not. */
  answered(): void {
    this.#granted--;
    this.#letIn(this.#maxWaiting / 2);
  }

  /** Nobody is to be called any more. */
  forget(go: () => void): void {
    this.#asking.delete(go);
  }

  #letIn(limit: number): void {
    for (const go of this.#asking) {
      // The page that somebody was let in for counts until it begins to come, as its events do from then on. Where nothing waits and nobody is about to be answered, nothing would call the next one.
      if (this.#waiting + this.#granted * PAGE >= limit && this.#waiting + this.#granted > 0) return;
      this.#asking.delete(go);
      this.#granted++;
      go();
    }
  }
}

/** One feed's turns in the backlog: before it asks its source for more of what was missed. */
export class Turn {
  readonly #backlog: Backlog;
  readonly #go: () => void;
  #timer: NodeJS.Timeout | undefined;

  /** `go` is called for every time that was asked for. */
  constructor(backlog: Backlog, go: () => void) {
    this.#backlog = backlog;
    this.#go = go;
  }

  ask(): void {
    this.#backlog.ask(this.#begin);
  }

  /** The source has said something. */
  answered(): void {
    if (!this.#timer) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#backlog.answered();
  }

  /** Wants no more. */
  end(): void {
    this.#backlog.forget(this.#begin);
    this.answered();
  }

  readonly #begin = (): void => {
    this.#timer = setTimeout(() => {
      this.answered();
    }, ANSWER_MS).unref();
    this.#go();
  };
}
