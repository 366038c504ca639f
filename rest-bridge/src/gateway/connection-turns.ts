/**
 * Bounds the requests that are sent to the gateway at once. Beyond that clients take turns, so that few requests of one do not wait for many of
 * another (ADR 12). No I/O.
 */
export class ConnectionTurns {
  #free: number;
  /** What waits, by its client; a Map keeps the order of insertion, which is that of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** `connections` is how many requests may be sent at once. */
  constructor(connections: number) {
    this.#free = connections;
  }

  /** Calls `begin` as soon as a connection is free: at once, or when it is the client's turn. Each call must be followed by one of {@link release}. */
  take(client: string, begin: () => void): void {
    if (this.#free > 0) {
      this.#free--;
      begin();
      return;
    }
    const own = this.#waiting.get(client);
    if (own) own.push(begin);
    else this.#waiting.set(client, [begin]);
  }

  /** Ends a request that was begun, and begins the oldest one of the client whose turn it is. */
  release(): void {
    const [turn] = this.#waiting;
    if (!turn) {
      this.#free++;
      return;
    }
    const [client, own] = turn;
    const begin = own.shift();
    // The client has its next turn after the others.
    this.#waiting.delete(client);
    if (own.length > 0) this.#waiting.set(client, own);
    begin?.();
  }
}
