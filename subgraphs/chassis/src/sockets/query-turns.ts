/**
 * When the queries and mutations of sockets are executed: those of one socket one after another, those of all sockets a few at once. The gateway
 * sends them over HTTP; on sockets they must not take the memory of a process or the time of its subscriptions.
 */
import type { WebSocket } from 'ws';
import type { Results } from './operation.ts';

/** The most that are executed at once. */
const CONCURRENT = 2;
/** While more wait on one socket, its messages are not read. */
const MAX_WAITING = 8;

/** The turns of a process. */
export class QueryTurns {
  readonly #last = new WeakMap<WebSocket, Promise<void>>();
  readonly #waiting = new WeakMap<WebSocket, number>();
  readonly #queue: (() => void)[] = [];
  #free = CONCURRENT;

  /** Returns whether the socket has so many waiting operations that its messages should not be read. */
  isFull(socket: WebSocket): boolean {
    return (this.#waiting.get(socket) ?? 0) > MAX_WAITING;
  }

  /**
   * Returns the result that `start` gives, when it is its turn: after the results of the operations before it on the socket were sent, which
   * waits for a peer that does not read. Does not start when the socket is closed by then. `onLeave` is called at the end.
   */
  async *run(socket: WebSocket, start: () => Results, onLeave: () => void): Results {
    const before = this.#last.get(socket);
    let leave: () => void = () => undefined;
    this.#last.set(socket, new Promise<void>((resolve) => (leave = resolve)));
    this.#count(socket, 1);
    try {
      await before;
      const result = await this.#execute(socket, start);
      if (result) yield result;
    } finally {
      leave();
      this.#count(socket, -1);
      onLeave();
    }
  }

  async #execute(socket: WebSocket, start: () => Results) {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      if (socket.readyState !== socket.OPEN) return undefined;
      const { value } = await start().next();
      return value ?? undefined;
    } finally {
      const next = this.#queue.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #count(socket: WebSocket, change: 1 | -1): void {
    this.#waiting.set(socket, (this.#waiting.get(socket) ?? 0) + change);
  }
}
