/** Works on several things at a time, and hands the results over in the order in which the things came. */

export interface OrderedWorkOptions<In, Out> {
  /** How many may run at a time, at this moment. */
  readonly concurrent: () => number;
  /** Begins the work on one thing and calls back with its result, now or later; further calls are ignored. */
  readonly work: (input: In, done: (output: Out) => void) => void;
  readonly deliver: (output: Out) => void;
  /** Called whenever everything that came has been handed over. */
  readonly onIdle: () => void;
}

interface Slot<In, Out> {
  readonly input: In;
  result: { readonly output: Out } | undefined;
}

export class OrderedWork<In, Out> {
  readonly #options: OrderedWorkOptions<In, Out>;
  /** Some running, some done and waiting for those before them, the rest not begun. */
  readonly #slots: Slot<In, Out>[] = [];
  #begun = 0;
  #running = 0;
  #isBeginning = false;
  #isStopped = false;

  constructor(options: OrderedWorkOptions<In, Out>) {
    this.#options = options;
  }

  /** How many things have come that are not handed over. */
  get size(): number {
    return this.#slots.length;
  }

  push(input: In): void {
    this.#slots.push({ input, result: undefined });
    this.#begin();
  }

  /** Begins nothing more, and hands over nothing. */
  stop(): void {
    this.#isStopped = true;
    this.#slots.length = 0;
  }

  #begin(): void {
    // What is done at once leads back here: the loop that runs goes on, rather than one within it.
    if (this.#isBeginning) return;
    this.#isBeginning = true;
    try {
      for (let slot = this.#next(); slot; slot = this.#next()) this.#start(slot);
    } finally {
      this.#isBeginning = false;
    }
  }

  #next(): Slot<In, Out> | undefined {
    return !this.#isStopped && this.#running < this.#options.concurrent() ? this.#slots[this.#begun] : undefined;
  }

  #start(slot: Slot<In, Out>): void {
    this.#begun++;
    this.#running++;
    this.#options.work(slot.input, (output) => {
      if (slot.result || this.#isStopped) return;
      slot.result = { output };
      this.#running--;
      this.#handOver();
    });
  }

  #handOver(): void {
    if (this.#isStopped) return;
    for (let next = this.#slots[0]; next?.result; next = this.#slots[0]) {
      this.#slots.shift();
      this.#begun--;
      this.#options.deliver(next.result.output);
    }
    this.#begin();
    if (this.#slots.length === 0) this.#options.onIdle();
  }
}
