/**
 * Bounds the share of a planner's time that one client gets while other clients are present: planning, and what follows from a new document in other
 * processes, competes for the CPUs with the requests of everybody.
 */

export interface PlanningTimeOptions {
  /** The largest share of time for one client, from 0 to 1. */
  readonly share: number;
  /** The planning time that a client may use without a pause. */
  readonly burstMs: number;
  /** The longest pause. */
  readonly maxPauseMs: number;
  /** Returns a monotonic time in milliseconds. */
  readonly now?: () => number;
}

/** The most clients that are kept. Beyond it, clients without a pause are removed first, then the oldest. */
const MAX_CLIENTS = 1000;

export class PlanningTime {
  readonly #options: Required<PlanningTimeOptions>;
  /** When each client would have used its share, and no more. */
  readonly #usedUntil = new Map<string, number>();

  constructor({ now = () => performance.now(), ...options }: PlanningTimeOptions) {
    this.#options = { now, ...options };
  }

  /** Adds time that was spent for a client. */
  spend(client: string, milliseconds: number): void {
    const { share, burstMs, maxPauseMs, now: readTime } = this.#options;
    const now = readTime();
    const from = Math.max(this.#usedUntil.get(client) ?? 0, now - milliseconds);
    this.#usedUntil.delete(client);
    this.#usedUntil.set(client, Math.min(from + milliseconds / share, now + burstMs + maxPauseMs));
    if (this.#usedUntil.size > MAX_CLIENTS) this.#forget(now);
  }

  /** Returns after how many milliseconds the client has its next turn; 0 when it has one now. */
  pauseOf(client: string): number {
    const usedUntil = this.#usedUntil.get(client);
    return usedUntil === undefined ? 0 : Math.max(0, usedUntil - this.#options.burstMs - this.#options.now());
  }

  #forget(now: number): void {
    for (const [client, usedUntil] of this.#usedUntil) if (usedUntil <= now) this.#usedUntil.delete(client);
    for (const client of this.#usedUntil.keys()) {
      if (this.#usedUntil.size <= MAX_CLIENTS) break;
      this.#usedUntil.delete(client);
    }
  }
}
