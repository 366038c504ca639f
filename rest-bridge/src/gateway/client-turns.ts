/**
 * Bounds what is done at once. Beyond that the clients take turns, so that little work of one does not wait for much work of another (ADR 12).
 * No I/O.
 */
export class ClientTurns {
  #free: number;
  /** What waits, by its client; a Map keeps the order of insertion, which is that of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** `places` is how many pieces of work may be in progress at once. */
  constructor(places: number) {
    this.#free = places;
  }

  /** Calls `begin` as soon as a place is free: at once, or when it is the client's turn. Each call must be followed by one of {@link release}. */
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

  /** Ends work that was begun, and begins the oldest of the client whose turn it is. */
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
