/** The record of one request that has not ended. */
import type { OperationUsage, RequestUsage } from '../request/operation-usage.ts';
import type { ClientApplication } from '../request/operation.ts';

/** How long a request took, and whether its result had errors. */
export interface RequestEnd {
  readonly ms: number;
  readonly isError: boolean;
}

/** Takes requests that have ended. */
export interface RequestSink {
  add(operation: OperationUsage, client: ClientApplication, end: RequestEnd): void;
}

/** Gives its request to a sink once, when it ends; never without an operation. */
export class OpenRequest implements RequestUsage {
  operation: OperationUsage | undefined = undefined;
  readonly #sink: RequestSink;
  readonly #client: ClientApplication;
  readonly #startedAt = performance.now();
  #isEnded = false;

  constructor(sink: RequestSink, client: ClientApplication) {
    this.#sink = sink;
    this.#client = client;
  }

  end(isError: boolean): void {
    if (this.#isEnded || !this.operation) return;
    this.#isEnded = true;
    this.#sink.add(this.operation, this.#client, { ms: performance.now() - this.#startedAt, isError });
  }
}
