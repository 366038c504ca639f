/** Requests of one launch since the last verdict: how many, how many with errors, and a histogram of their times. No I/O. */
import type { OperationResult } from '../request/operation.ts';

/** Times are counted in classes of 10 %, from 0.01 ms to half an hour. */
const FIRST_MS = 0.01;
const RATIO = Math.log(1.1);
const CLASSES = 200;

/** Statuses of requests that were refused for reasons that do not depend on the launch. */
const NOT_COUNTED: ReadonlySet<number> = new Set([401, 403, 405, 406, 429]);

/** Returns whether a result is an error of the launch: of the document, which it may not know, of its execution, or of the server. */
export function isFaulty({ outcome, status }: Pick<OperationResult, 'outcome' | 'status'>): boolean {
  return outcome !== 'complete' && (outcome !== 'refused' || status === undefined || !NOT_COUNTED.has(status));
}

export class RequestSample {
  readonly #times = new Uint32Array(CLASSES);
  #count = 0;
  #faulty = 0;

  get count(): number {
    return this.#count;
  }

  /** The share of requests with errors, 0 to 1. */
  get errorRate(): number {
    return this.#count === 0 ? 0 : this.#faulty / this.#count;
  }

  /** The time in milliseconds within which 95 % of the requests have ended, at most 10 % too high; 0 without requests. */
  get p95Ms(): number {
    let left = Math.ceil(this.#count * 0.95);
    for (const [i, count] of this.#times.entries()) {
      left -= count;
      if (left <= 0 && this.#count > 0) return FIRST_MS * Math.exp(RATIO * (i + 1));
    }
    return 0;
  }

  add(isError: boolean, ms: number): void {
    this.#count++;
    if (isError) this.#faulty++;
    const index = ms <= FIRST_MS ? 0 : Math.min(CLASSES - 1, Math.floor(Math.log(ms / FIRST_MS) / RATIO));
    this.#times[index] = (this.#times[index] ?? 0) + 1;
  }

  clear(): void {
    this.#times.fill(0);
    [this.#count, this.#faulty] = [0, 0];
  }
}
