/** Works on several inputs concurrently and delivers the outputs in the order of the inputs. */

export interface OrderedWorkOptions<In, Out> {
  /** Returns how many inputs may be worked on at this moment. */
  readonly concurrent: () => number;
  /** Starts the work on one input and calls back with the output, now or later. Further calls are ignored. Returns what cancels the work. */
  readonly work: (input: In, done: (output: Out) => void) => Work | undefined;
  readonly deliver: (output: Out, input: In) => void;
  /** Called whenever every output has been delivered. */
  readonly onIdle: () => void;
}

interface Work {
  /** Called when nobody needs the output any more. */
  cancel(): void;
}

interface Slot<In, Out> {
  readonly input: In;
  work: Work | undefined;
  result: { readonly output: Out } | undefined;
}

export class OrderedWork<In, Out> {
  readonly #options: OrderedWorkOptions<In, Out>;
  /** In order of arrival: started ones, with or without a result, then those that are not started. */
  readonly #slots: Slot<In, Out>[] = [];
  #started = 0;
  #running = 0;
  #isStarting = false;
  #isStopped = false;

  constructor(options: OrderedWorkOptions<In, Out>) {
    this.#options = options;
  }

  /** The number of inputs whose outputs are not delivered. */
  get size(): number {
    return this.#slots.length;
  }

  push(input: In): void {
    this.#slots.push({ input, work: undefined, result: undefined });
    this.#startNext();
  }

  /** Cancels the work in flight, and starts and delivers nothing more. */
  stop(): void {
    this.#isStopped = true;
    for (const { work, result } of this.#slots.splice(0)) if (!result) work?.cancel();
  }

  #startNext(): void {
    // Work that is done at once calls this again: the running loop continues instead of recursing.
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      for (let slot = this.#next(); slot; slot = this.#next()) this.#start(slot);
    } finally {
      this.#isStarting = false;
    }
  }

  #next(): Slot<In, Out> | undefined {
    return !this.#isStopped && this.#running < this.#options.concurrent() ? this.#slots[this.#started] : undefined;
  }

  #start(slot: Slot<In, Out>): void {
    this.#started++;
    this.#running++;
    slot.work = this.#options.work(slot.input, (output) => {
      if (slot.result || this.#isStopped) return;
      slot.result = { output };
      this.#running--;
      this.#deliver();
    });
  }

  #deliver(): void {
    for (let next = this.#slots[0]; next?.result; next = this.#slots[0]) {
      this.#slots.shift();
      this.#started--;
      this.#options.deliver(next.result.output, next.input);
    }
    this.#startNext();
    if (this.#slots.length === 0) this.#options.onIdle();
  }
}
