/** One request that has no response yet: it waits for a connection, or for its response. */
import type { Abortable } from '@trestle/service/process/cancellation';
import { ClientError, type ClientErrorCode, type ResponseHandler } from './upstream-client.ts';
import type { RequestBytes } from './request-bytes.ts';

/** What a request without a response is created with. */
export interface PendingOptions {
  readonly client: string | undefined;
  readonly deadline: number;
  readonly owner: { abort(request: PendingRequest, reason: Error): void };
}

/** A request without a response. */
export class PendingRequest implements Abortable {
  readonly bytes: RequestBytes;
  readonly handler: ResponseHandler;
  /** The client that it is sent for. */
  readonly client: string | undefined;
  /** On the clock of `performance.now`. */
  readonly deadline: number;
  /** The connection that has the request. */
  connection: { fail(code: ClientErrorCode, message: string, cause?: unknown): void } | undefined;
  readonly #owner: PendingOptions['owner'];

  constructor(bytes: RequestBytes, handler: ResponseHandler, { client, deadline, owner }: PendingOptions) {
    this.bytes = bytes;
    this.handler = handler;
    this.client = client;
    this.deadline = deadline;
    this.#owner = owner;
  }

  get length(): number {
    return this.bytes.length;
  }

  /** Ends the request with ABORTED, if it has not ended. */
  abort(reason: Error): void {
    this.#owner.abort(this, reason);
  }

  /** Ends a request that no connection has. */
  failUnsent(code: ClientErrorCode, message: string): void {
    this.handler.onFailure(new ClientError(code, message));
  }
}
