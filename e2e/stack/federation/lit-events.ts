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

/** A subscription of the subgraphs of {@link createLitSources}, for which each event is completed by the second one. */
export const LIT_QUERY = 'subscription { lit { id price } }';

/** Returns two subgraphs, of which the first has the subscription. Its field `broken` always fails. */
export function createLitSources(events: LitEvents) {
  const broken = () => {
    throw new Error('secret of the subgraph');
  };
  return {
    lamps: {
      sdl: `type Query { lamp: Lamp } type Lamp @key(fields: "id") { id: ID! }
        type Subscription { lit(room: String): Lamp broken: Lamp }`,
      resolvers: {
        Query: { lamp: () => ({ id: '1' }) },
        Subscription: { lit: { subscribe: () => events.subscribe() }, broken: { subscribe: broken } },
      },
    },
    prices: {
      sdl: 'type Lamp @key(fields: "id") { id: ID! price: Int }',
      resolvers: { Lamp: { __resolveReference: (lamp: object) => lamp, price: () => 5 } },
    },
  };
}
