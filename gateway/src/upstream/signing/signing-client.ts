/** A client that signs each request before another client sends it. */
import type { Abortable } from '@trestle/service/process/cancellation';
import { ClientError, type ClientRequest, type ResponseHandler, type UpstreamClient } from '@trestle/http-client/upstream-client';
import type { RequestSigner } from './request-signer.ts';

/** Where requests go. */
export interface SigningOptions {
  readonly signer: RequestSigner;
  /** As the header `Host` has it. */
  readonly host: string;
  /** The time limit of a request, with the time that its signature takes. */
  readonly timeoutMs: number;
}

/**
 * Returns a client that sends by `client`. A request that is sent again by its caller is signed again, with the date of then. One whose body is streamed
 * fails with INVALID_REQUEST where bodies are signed.
 */
export function signRequests<Body>(client: UpstreamClient<Body>, options: SigningOptions): UpstreamClient<Body> {
  return {
    send(request, handler) {
      const signed = new SignedRequest(client, request, handler);
      signed.start(options);
      return signed;
    },
    readCounts: () => client.readCounts(),
    retire: () => client.retire(),
    close: () => client.close(),
  };
}

class SignedRequest<Body> implements Abortable {
  readonly #client: UpstreamClient<Body>;
  readonly #request: ClientRequest<Body>;
  readonly #handler: ResponseHandler;
  #sent: Abortable | undefined;
  #isFailed = false;

  constructor(client: UpstreamClient<Body>, request: ClientRequest<Body>, handler: ResponseHandler) {
    this.#client = client;
    this.#request = request;
    this.#handler = handler;
  }

  start({ signer, host, timeoutMs }: SigningOptions): void {
    const { path, headers, body, startedAt = performance.now() } = this.#request;
    if (typeof body !== 'string' && signer.isBodySigned) {
      this.#fail(new ClientError('INVALID_REQUEST', 'A body that is streamed cannot be signed.'));
      return;
    }
    const timer = setTimeout(
      () => {
        this.#fail(new ClientError('TIMEOUT', 'The request was not signed in time.'));
      },
      startedAt + timeoutMs - performance.now(),
    );
    signer.sign({ method: 'POST', host, path, headers, body: typeof body === 'string' ? body : undefined }).then(
      (signed) => {
        clearTimeout(timer);
        if (!this.#isFailed) this.#sent = this.#client.send({ ...this.#request, headers: signed, startedAt }, this.#handler);
      },
      (error: unknown) => {
        clearTimeout(timer);
        this.#fail(new ClientError('UNSIGNED', `The request could not be signed. ${(error as Error).message}`));
      },
    );
  }

  abort(reason: Error): void {
    if (this.#sent) this.#sent.abort(reason);
    else this.#fail(new ClientError('ABORTED', reason.message, { cause: reason }));
  }

  #fail(error: ClientError): void {
    if (this.#isFailed || this.#sent) return;
    this.#isFailed = true;
    this.#handler.onFailure(error);
  }
}
