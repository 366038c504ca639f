/** What the fetches of one operation report beside their results, for response headers. */
import { type Caller, hasRole } from '@trestle/identity';

const NO_HEADERS: Readonly<Record<string, string>> = {};

export class FetchLog {
  readonly #durationsMs: (readonly [subgraph: string, milliseconds: number])[] = [];
  #isReplayed = false;

  /** Adds how long one fetch took. */
  add(subgraph: string, milliseconds: number): void {
    this.#durationsMs.push([subgraph, milliseconds]);
  }

  /** Notes that a subgraph replayed the result of an earlier request with the same Idempotency-Key (spec §8). */
  markReplayed(): void {
    this.#isReplayed = true;
  }

  /** Returns `Idempotent-Replayed` for every caller, and `Server-Timing` for administrators only: durations reveal what is inside. */
  toHeaders(caller: Caller | null): Readonly<Record<string, string>> {
    const timings = hasRole(caller, 'ADMIN') ? Array.from(this.#sum(), ([name, duration]) => `${name};dur=${duration.toFixed(1)}`) : [];
    if (!this.#isReplayed && timings.length === 0) return NO_HEADERS;
    return {
      ...(this.#isReplayed && { 'idempotent-replayed': 'true' }),
      ...(timings.length > 0 && { 'server-timing': timings.join(', ') }),
    };
  }

  #sum(): Map<string, number> {
    const sums = new Map<string, number>();
    for (const [name, duration] of this.#durationsMs) sums.set(name, (sums.get(name) ?? 0) + duration);
    return sums;
  }
}
