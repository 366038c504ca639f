/** Fetches that were sent before an operation was handed over to the object executor, so that none is sent twice. */
import type { FetchStep } from '../program/program.ts';
import type { FetchDone, SubgraphFailure, SubgraphResult } from '../program/result.ts';

/** A fetch whose response has arrived, or will. */
export class ReceivedFetch {
  /** Undefined for a fetch at the root. */
  readonly representations: string | undefined;
  #outcome: { readonly failure: SubgraphFailure | null; readonly result: SubgraphResult } | undefined;
  #done: FetchDone | undefined;

  constructor(representations: string | undefined) {
    this.representations = representations;
  }

  /** Sets how it ended. */
  settle(failure: SubgraphFailure | null, result: SubgraphResult): void {
    this.#outcome = { failure, result };
    this.#done?.(failure, result);
  }

  /** Calls back once, as soon as it has ended. */
  take(done: FetchDone): void {
    if (this.#outcome) done(this.#outcome.failure, this.#outcome.result);
    else this.#done = done;
  }
}

export class ReceivedFetches {
  readonly #byStep = new Map<FetchStep, ReceivedFetch>();

  add(step: FetchStep, fetch: ReceivedFetch): void {
    this.#byStep.set(step, fetch);
  }

  /** Returns the fetch that was sent for a step, if it had the same representations: entities in another order would go to wrong places. */
  find(step: FetchStep, representations: string | undefined): ReceivedFetch | undefined {
    const fetch = this.#byStep.get(step);
    return fetch && fetch.representations === representations ? fetch : undefined;
  }
}
