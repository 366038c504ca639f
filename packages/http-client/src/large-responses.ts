/**
 * Hands over large responses, of all connections one in each iteration of the event loop: their handlers take milliseconds, and several that arrive
 * together would stop it for their sum.
 */
import { IterationTurns } from '@trestle/service/process/iteration-turns';
import type { PendingRequest } from './pending-request.ts';
import type { ResponseReader } from './response-reader.ts';
import { ClientError, type ClientErrorCode } from './upstream-client.ts';

const turns = new IterationTurns();

/** Calls the handler of the request with the response that the reader has read, in its turn. The reader is used for nothing else. */
export function deliverLarge(request: PendingRequest, reader: ResponseReader): void {
  const delivery = new Delivery(request, reader);
  turns.take(() => {
    delivery.deliver();
  });
}

/** A complete response, which a client can still abort. */
class Delivery {
  readonly #request: PendingRequest;
  readonly #reader: ResponseReader;

  constructor(request: PendingRequest, reader: ResponseReader) {
    this.#request = request;
    this.#reader = reader;
    request.connection = this;
  }

  deliver(): void {
    if (this.#request.connection !== this) return;
    this.#request.connection = undefined;
    try {
      this.#request.handler.onResponse(this.#reader);
    } finally {
      this.#reader.release();
    }
  }

  fail(code: ClientErrorCode, message: string, cause?: unknown): void {
    if (this.#request.connection !== this) return;
    this.#request.connection = undefined;
    this.#reader.release();
    this.#request.handler.onFailure(new ClientError(code, message, { progress: 'responding', cause }));
  }
}
