/** Events of a subgraph's subscription `lit` that a test sends. */

/** Sends events to each open subscription. */
export class LitEvents {
  readonly #open = new Set<(event: unknown) => void>();

  /** The number of subscriptions. */
  get open(): number {
    return this.#open.size;
  }

  /** Sends an event, or the end. */
  send(...events: unknown[]): void {
    for (const event of events) for (const receive of this.#open) receive(event);
  }

  /** Returns the events of one subscription. A generator could not be ended while it waits for an event. */
  subscribe(): AsyncIterableIterator<unknown> {
    const waiting: ((result: IteratorResult<unknown>) => void)[] = [];
    const received: IteratorResult<unknown>[] = [];
    const receive = (event: unknown) => {
      const result: IteratorResult<unknown> = event === 'end' ? { done: true, value: undefined } : { done: false, value: { lit: event } };
      if (event === 'end') this.#open.delete(receive);
      const resolve = waiting.shift();
      if (resolve) resolve(result);
      else received.push(result);
    };
    this.#open.add(receive);
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      next: () =>
        new Promise((resolve) => {
          const result = received.shift();
          if (result) resolve(result);
          else waiting.push(resolve);
        }),
      return: () => {
        if (this.#open.has(receive)) receive('end');
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }
}
