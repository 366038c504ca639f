/** One fetch from a subgraph: the attempt, at most one retry where that is safe, and the circuit breaker. */
import { type Dispatcher, type Pool, errors } from 'undici';
import type { FetchDone, SubgraphFailure, SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import type { CircuitBreaker } from './circuit-breaker.ts';
import type { RetryBudget } from './retry-budget.ts';
import { readResponse } from './subgraph-response.ts';

/** Before the retry of a refused connection: the subgraph may be restarting. */
const REFUSED_PAUSE_MS = 100;

export interface UpstreamRequest {
  /** The whole body, as JSON. */
  readonly body: string;
  readonly isMutation: boolean;
  readonly context: UpstreamContext;
}

export type UpstreamContext = Pick<RequestContext, 'headers' | 'mutationHeaders' | 'cancellation' | 'fetchLog'>;

/** A subgraph and the state of the connections to it. */
export interface UpstreamTarget {
  readonly name: string;
  readonly pool: Pool;
  readonly path: string;
  readonly breaker: CircuitBreaker;
  readonly retries: RetryBudget;
}

const NO_RESULT: SubgraphResult = {};

/** Fetches and calls back once. */
export function startFetch(target: UpstreamTarget, request: UpstreamRequest, done: FetchDone): void {
  new FetchAttempt(target, request, done).start();
}

/** A handler of undici's `dispatch`. */
class FetchAttempt implements Dispatcher.DispatchHandler {
  readonly #target: UpstreamTarget;
  readonly #request: UpstreamRequest;
  readonly #done: FetchDone;
  #isRetry = false;
  #first: Buffer | undefined;
  #others: Buffer[] | undefined;
  #status = 200;
  #contentType: string | undefined;

  constructor(target: UpstreamTarget, request: UpstreamRequest, done: FetchDone) {
    this.#target = target;
    this.#request = request;
    this.#done = done;
  }

  start(): void {
    const { name, pool, path, breaker, retries } = this.#target;
    const { context, isMutation, body } = this.#request;
    const { headers, mutationHeaders } = context;
    if (this.#isCancelled()) {
      this.#done(toFailure(name, new Error('The client disconnected')), NO_RESULT);
      return;
    }
    if (!breaker.allow()) {
      this.#done(toFailure(name, new Error('The circuit breaker is open')), NO_RESULT);
      return;
    }
    retries.earn();
    const own = isMutation && mutationHeaders.length > 0 ? [...headers, ...mutationHeaders] : headers;
    pool.dispatch({ method: 'POST', path, headers: own as string[], body }, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { context, isMutation } = this.#request;
    if (!isMutation) context.cancellation.add(controller);
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    this.#status = status;
    const contentType = headers['content-type'];
    this.#contentType = typeof contentType === 'string' ? contentType : undefined;
    if (headers['idempotent-replayed'] === 'true') this.#request.context.fetchLog.markReplayed();
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#first === undefined) this.#first = chunk;
    else (this.#others ??= []).push(chunk);
  }

  onResponseEnd(): void {
    const { name, breaker } = this.#target;
    breaker.succeed();
    const [status, contentType] = [this.#status, this.#contentType];
    const result = readResponse({ status, contentType, first: this.#first, others: this.#others });
    if (result) this.#done(null, result);
    else {
      const cause = new Error(`HTTP ${String(status)}, ${contentType ?? 'no content type'}: not a GraphQL response`);
      this.#done(toFailure(name, cause), NO_RESULT);
    }
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    const { name, breaker, retries } = this.#target;
    if (this.#isCancelled()) {
      this.#done(toFailure(name, error), NO_RESULT);
      return;
    }
    breaker.fail();
    if (this.#isRetriable(error) && retries.take()) this.#retry(isRefused(error) ? REFUSED_PAUSE_MS : 0);
    else this.#done(toFailure(name, error), NO_RESULT);
  }

  #retry(pauseMs: number): void {
    this.#isRetry = true;
    setTimeout(() => {
      this.start();
    }, pauseMs);
  }

  /** A mutation is executed, whether or not its client waits. */
  #isCancelled(): boolean {
    return this.#request.context.cancellation.isCancelled && !this.#request.isMutation;
  }

  /** Only once, and only before a byte of the response has arrived. */
  #isRetriable(error: Error): boolean {
    if (this.#isRetry || this.#first !== undefined) return false;
    return isRefused(error) || (!this.#request.isMutation && isConnectionError(error));
  }
}

const CONNECTION_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_CONNECT_TIMEOUT']);

/** The subgraph cannot have processed the request: a mutation can be sent again too (RFC 9110 §9.2.2). */
function isRefused(error: Error): boolean {
  return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
}

function isConnectionError(error: Error): boolean {
  return CONNECTION_CODES.has((error as NodeJS.ErrnoException).code ?? '');
}

/** The cause contains addresses and is for the log only. */
function toFailure(service: string, cause: Error): SubgraphFailure {
  const isTimeout = cause instanceof errors.HeadersTimeoutError || cause instanceof errors.BodyTimeoutError;
  return isTimeout
    ? { code: 'UPSTREAM_TIMEOUT', message: `The subgraph ${service} did not respond in time.`, cause }
    : { code: 'UPSTREAM_ERROR', message: `The request to the subgraph ${service} failed.`, cause };
}
