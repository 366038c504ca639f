/** One fetch from a subgraph: the attempt, at most one retry where that is safe, and the circuit breaker. */
import { Readable } from 'node:stream';
import { fail } from '@trestle/schema/errors';
import { replaceFields } from '../headers/header-rules.ts';
import type { FetchDone, SubgraphFailure, SubgraphResult } from '../program/result.ts';
import { ONE_FETCH } from '../request/upload.ts';
import { decodeBody, isEncoded } from './decode-body.ts';
import { NotSent, TooManyRequests, toFailure } from './fetch-failure.ts';
import { findReturnedCaching, noteForwarded, noteReturned } from './note-headers.ts';
import { type Outcome, outcomeOfError, outcomeOfStatus } from './traffic/outcome.ts';
import { toRetryPause } from './traffic/retry-pause.ts';
import { isJson, readResponse } from './subgraph-response.ts';
import type { UpstreamRequest, UpstreamTarget } from './upstream-target.ts';
import type { ClientError, ClientRequest, ClientResponse, RequestRoute, ResponseHandler } from '@trestle/http-client/upstream-client';

/** Before the retry of a connection that could not be opened: the subgraph may be restarting. */
const UNREACHABLE_PAUSE_MS = 100;

const NO_RESULT: SubgraphResult = {};
const NO_BODY = Buffer.alloc(0);

/** A response whose body is decoded. */
interface Received {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** Fetches and calls back once. Adds the duration, and whether the result is a replay, to the fetch log of the context. */
export function startFetch(target: UpstreamTarget, request: UpstreamRequest, done: FetchDone): void {
  new FetchAttempt(target, request, done).start();
}

class FetchAttempt implements ResponseHandler {
  readonly #target: UpstreamTarget;
  readonly #request: UpstreamRequest;
  readonly #done: FetchDone;
  readonly #startedAt = performance.now();
  readonly #route: RequestRoute | undefined;
  #isRetry = false;

  constructor(target: UpstreamTarget, request: UpstreamRequest, done: FetchDone) {
    this.#target = target;
    this.#request = request;
    this.#done = done;
    this.#route = target.hasAddresses ? { last: undefined, avoided: [] } : undefined;
  }

  start(): void {
    const { client, path, headers: own, rewrite, rate, breaker, retries } = this.#target;
    const { context, isMutation, body, files, headers: last } = this.#request;
    const { mutationHeaders, cancellation, upload } = context;
    const cancelled = this.#findCancellation();
    if (cancelled) {
      this.#fail(cancelled);
      return;
    }
    // Before the breaker, which waits for the outcome of a request that it has allowed.
    if (!rate.take()) {
      this.#fail(new TooManyRequests());
      return;
    }
    if (!breaker.allow()) {
      this.#fail(new NotSent('The circuit breaker is open'));
      return;
    }
    retries.earn();
    if (isMutation) this.#target.onMutation();
    const hasMore = own.length > 0 || (isMutation && mutationHeaders.length > 0);
    const all = hasMore ? [...context.headers, ...own, ...(isMutation ? mutationHeaders : [])] : context.headers;
    const ruled = rewrite ? rewrite(all, context.identity ?? []) : all;
    const headers = last ? replaceFields(ruled, last) : ruled;
    if (files && upload) {
      this.#sendFiles({ path, headers, body: upload.take(body, files) }, upload.contentType);
      return;
    }
    const [startedAt, route] = [this.#startedAt, this.#route];
    const sent = client.send({ path, headers, body, client: context.client, isQuery: !isMutation, startedAt, route }, this);
    if (!isMutation) cancellation.add(sent);
  }

  /** The headers begin with the content type of a fetch without files. */
  #sendFiles({ path, headers, body }: ClientRequest<AsyncIterable<Buffer> | undefined>, contentType: string): void {
    const [name = '', , ...others] = headers;
    if (body) this.#target.uploadClient.send({ path, headers: [name, contentType, ...others], body: Readable.from(body) }, this);
    else this.#fail(fail('VALIDATION_ERROR', ONE_FETCH));
  }

  onResponse(response: ClientResponse): void {
    this.#target.measure(this.#request.context.client, () => {
      this.#respond(response);
    });
  }

  #respond(response: ClientResponse): void {
    const { maxResponseBytes, returned, forwardResponseHeaders } = this.#target;
    const { fetchLog } = this.#request.context;
    this.#report(outcomeOfStatus(response.status));
    const pauseMs = this.#findPause(response);
    if (pauseMs !== undefined) {
      this.#retry(pauseMs);
      return;
    }
    this.#request.onResponse?.(response, findReturnedCaching(response, returned));
    if (response.header('idempotent-replayed') === 'true') fetchLog.markReplayed();
    if (this.#request.isMutation) noteForwarded(response, forwardResponseHeaders, fetchLog);
    if (returned.length > 0) noteReturned(response, returned, fetchLog);
    const { status, bytes, bodyStart, bodyEnd } = response;
    const contentType = response.header('content-type');
    if (!isEncoded(response)) {
      this.#receive({ status, contentType, bytes, start: bodyStart, end: bodyEnd });
      return;
    }
    decodeBody(response, maxResponseBytes, (body = NO_BODY) => {
      this.#receive({ status, contentType, bytes: body, start: 0, end: body.length });
    });
  }

  onFailure(error: ClientError): void {
    const { retries, onError } = this.#target;
    const { failure } = this.#request.context.upload ?? {};
    if (failure === undefined && !error.isShared) onError(error.code);
    const cancelled = this.#findCancellation();
    if (cancelled || failure !== undefined) {
      this.#fail(failure instanceof Error ? failure : (cancelled ?? error));
      return;
    }
    if (!error.isShared) this.#report(outcomeOfError(error.code));
    if (this.#isRetriable(error) && retries.take()) this.#retry(error.code === 'UNREACHABLE' ? UNREACHABLE_PAUSE_MS : 0);
    else this.#fail(error);
  }

  #receive({ status, contentType, bytes, start, end }: Received): void {
    const { take } = this.#request;
    const taken = take && status === 200 && isJson(contentType) ? take(bytes, start, end) : undefined;
    if (taken) {
      this.#end(null, taken);
      return;
    }
    const result = readResponse({ status, contentType, text: bytes.toString('utf8', start, end) });
    if (result) this.#end(null, result);
    else this.#fail(new Error(`HTTP ${String(status)}, ${contentType ?? 'no content type'}: not a GraphQL response`));
  }

  #report(outcome: Outcome): void {
    const { breaker } = this.#target;
    if (outcome === 'success') breaker.succeed();
    else if (outcome === 'failure') breaker.fail();
  }

  /** Sends the fetch again after the pause, which ends at once when the fetch is cancelled. */
  #retry(pauseMs: number): void {
    this.#isRetry = true;
    if (this.#route?.last !== undefined) this.#route.avoided.push(this.#route.last);
    this.#target.onRetry();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      this.start();
    }, pauseMs);
    if (this.#request.isMutation) return;
    this.#request.context.cancellation.add({
      abort: (reason) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(timer);
        this.#fail(reason);
      },
    });
  }

  /** Returns why the fetch is cancelled; undefined for a mutation, which is executed whether or not its client waits. */
  #findCancellation(): Error | undefined {
    return this.#request.isMutation ? undefined : this.#request.context.cancellation.reason;
  }

  /**
   * Only once. A query may be sent again when no byte of a response arrived; a mutation only when nothing was sent, so that the subgraph cannot
   * have processed it (RFC 9110 §9.2.2).
   */
  #isRetriable({ code, progress }: ClientError): boolean {
    // The files cannot be read a second time.
    if (this.#isRetry || this.#request.files || (code !== 'UNREACHABLE' && code !== 'CONNECTION_LOST')) return false;
    return progress === 'unsent' || (progress === 'sent' && !this.#request.isMutation);
  }

  /**
   * Returns how long to wait before a query is sent again because of its response; undefined when it is not. A mutation may have been executed, whatever the
   * status says.
   */
  #findPause(response: ClientResponse): number | undefined {
    const { retryStatuses, timeoutMs, retries } = this.#target;
    if (!retryStatuses?.has(response.status) || this.#isRetry || this.#request.isMutation || this.#request.files) return undefined;
    const leftMs = this.#startedAt + timeoutMs - performance.now();
    const pauseMs = toRetryPause(response.header('retry-after'), { leftMs });
    return pauseMs !== undefined && retries.take() ? pauseMs : undefined;
  }

  #fail(cause: Error): void {
    this.#end(toFailure(this.#target.name, cause), NO_RESULT);
  }

  #end(failure: SubgraphFailure | null, result: SubgraphResult): void {
    if (this.#request.isMutation) this.#target.onMutation();
    const milliseconds = performance.now() - this.#startedAt;
    this.#request.context.fetchLog.add(this.#target.name, milliseconds);
    this.#target.observe(failure ? failure.code : result.errors ? 'errors' : 'data', milliseconds / 1000);
    this.#done(failure, result);
  }
}
