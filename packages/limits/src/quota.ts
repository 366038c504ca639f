/** The rate limit of one request or operation: takes its units, and gives back what a free response has taken (spec §8). */
import type { Fault } from '@trestle/schema/errors';
import { toRateLimitFault, toRateLimitHeaders } from './headers.ts';
import type { Decision, RateLimiter, Subject } from './rate-limiter.ts';

/** Counts the units of one request. */
export interface Quota {
  /**
   * Takes the first unit. Calls back once, at once unless Redis is asked: with the fault of a request that must be refused, else with
   * undefined. `done` must not throw: after Redis was asked, an exception would end the process.
   */
  begin(done: (fault: Fault | undefined) => void): void;
  /** Takes the units of one operation, of which the first is paid by {@link begin}. Calls back as `begin`. */
  take(units: number, done: (fault: Fault | undefined) => void): void;
  /** Returns the headers of a response with this status, names and values in turn. Gives back everything for a response 304, which is free. */
  headersFor(status: number): readonly string[];
}

const NO_HEADERS: readonly string[] = [];

/** Counts nothing: for requests that another process of this system has counted, and for a process without limits. */
export const UNCOUNTED: Quota = {
  begin: (done) => {
    done(undefined);
  },
  take: (_, done) => {
    done(undefined);
  },
  headersFor: () => NO_HEADERS,
};

/** Creates the quota of one request. */
export function createQuota(limiter: RateLimiter, subject: Subject): Quota {
  return new RequestQuota(limiter, subject);
}

class RequestQuota implements Quota {
  readonly #limiter: RateLimiter;
  readonly #subject: Subject;
  readonly #taken: Decision[] = [];
  #latest: Decision | undefined;
  /** Units of {@link begin} that no operation has used. */
  #prepaid = 0;

  constructor(limiter: RateLimiter, subject: Subject) {
    this.#limiter = limiter;
    this.#subject = subject;
  }

  begin(done: (fault: Fault | undefined) => void): void {
    this.#take(1, (fault) => {
      if (!fault) this.#prepaid = 1;
      done(fault);
    });
  }

  take(units: number, done: (fault: Fault | undefined) => void): void {
    // An operation that costs more than the whole limit takes the whole limit.
    const rest = Math.min(units, this.#subject.limit) - this.#prepaid;
    this.#prepaid = 0;
    if (rest <= 0) done(undefined);
    else this.#take(rest, done);
  }

  headersFor(status: number): readonly string[] {
    if (status === 304) for (const decision of this.#taken.splice(0)) this.#latest = this.#limiter.refund(decision);
    const decision = this.#latest ?? this.#limiter.look(this.#subject);
    const headers = toRateLimitHeaders(decision);
    if (status === 429 && !decision.isAllowed) headers.push('retry-after', String(decision.retryAfterSeconds));
    return headers;
  }

  #take(units: number, done: (fault: Fault | undefined) => void): void {
    const decision = this.#limiter.take(this.#subject, units);
    if (decision instanceof Promise)
      void decision.then((later) => {
        this.#finish(later, done);
      });
    else this.#finish(decision, done);
  }

  #finish(decision: Decision, done: (fault: Fault | undefined) => void): void {
    this.#latest = decision;
    if (decision.isAllowed) this.#taken.push(decision);
    done(decision.isAllowed ? undefined : toRateLimitFault(decision));
  }
}
