/** One fetch from a subgraph: the attempt, at most one retry where that is safe, and the circuit breaker. */
import { Readable } from 'node:stream';
import { Fault, fail } from '@trestle/schema/errors';
import { OperationExpired } from '@trestle/service/process/cancellation';
import { type ReturnedHeader, type RewriteHeaders, replaceFields } from '../headers/header-rules.ts';
import type { FetchDone, SubgraphFailure, SubgraphResult } from '../program/result.ts';
import type { Measure, RequestContext } from '../request/context.ts';
import { type FileMap, ONE_FETCH } from '../request/upload.ts';
import type { CircuitBreaker } from './traffic/circuit-breaker.ts';
import { decodeBody, isEncoded } from './decode-body.ts';
import { type Outcome, outcomeOfError, outcomeOfStatus } from './traffic/outcome.ts';
import type { RequestRate } from './traffic/request-rate.ts';
import type { RetryBudget } from './traffic/retry-budget.ts';
import { isJson, readResponse } from './subgraph-response.ts';
import {
  ClientError,
  type ClientErrorCode,
  type ClientRequest,
  type ClientResponse,
  type ResponseHandler,
  type UpstreamClient,
} from '@trestle/http-client/upstream-client';

/** Before the retry of a connection that could not be opened: the subgraph may be restarting. */
const UNREACHABLE_PAUSE_MS = 100;

export interface UpstreamRequest {
  /** The whole body, as JSON. */
  readonly body: string;
  readonly isMutation: boolean;
  readonly context: UpstreamContext;
  /** The files that go with the body. */
  readonly files?: FileMap | undefined;
  /** Headers that replace others of the same name, after the rules: names and values in turn. */
  readonly headers?: readonly string[] | undefined;
  /** Called for each response, which is lent until it returns. Must not throw. */
  readonly onResponse?: ((response: ClientResponse) => void) | undefined;
  /**
   * Gets the body of a JSON response with status 200, which is lent until it returns. Returns the result when it has taken the response, without its
   * data. Must not throw.
   */
  readonly take?: ((bytes: Buffer, start: number, end: number) => SubgraphResult | undefined) | undefined;
}

export type UpstreamContext = Partial<Pick<RequestContext, 'client' | 'identity'>> &
  Pick<RequestContext, 'headers' | 'mutationHeaders' | 'cancellation' | 'fetchLog' | 'upload'>;

/** A subgraph and the state of the connections to it. */
export interface UpstreamTarget {
  readonly name: string;
  readonly client: UpstreamClient;
  /** Sends requests with files. */
  readonly uploadClient: UpstreamClient<Readable>;
  readonly path: string;
  /** Header fields of every fetch, beside those of its context: names and values in turn. */
  readonly headers: readonly string[];
  /** Applies the rules for headers of requests; undefined without rules. */
  readonly rewrite: RewriteHeaders | undefined;
  /** The response headers that rules return to the client. */
  readonly returned: readonly ReturnedHeader[];
  readonly maxResponseBytes: number;
  readonly rate: RequestRate;
  readonly breaker: CircuitBreaker;
  readonly retries: RetryBudget;
  /** Names, in lower case, of response headers of mutations that go back to the client. */
  readonly forwardResponseHeaders: readonly string[];
  /** Adds a fetch to the metrics: `outcome` is `data`, `errors`, or the code of its failure. */
  readonly observe: (outcome: string, seconds: number) => void;
  /** Adds a request without a response to the metrics. */
  readonly onError: (code: ClientErrorCode) => void;
  readonly onRetry: () => void;
  /** Called before a mutation is sent, and after it has ended. */
  readonly onMutation: () => void;
  /** Calls `act`, whose time counts as used by the client. */
  readonly measure: Measure;
}

/** The subgraph has got as many requests as traffic.requestsPerSecond allows. */
class TooManyRequests extends Error {}

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
  #isRetry = false;

  constructor(target: UpstreamTarget, request: UpstreamRequest, done: FetchDone) {
    this.#target = target;
    this.#request = request;
    this.#done = done;
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
      this.#fail(new Error('The circuit breaker is open'));
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
    const sent = client.send({ path, headers, body, client: context.client, isQuery: !isMutation, startedAt: this.#startedAt }, this);
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
    const { maxResponseBytes } = this.#target;
    this.#report(outcomeOfStatus(response.status));
    this.#request.onResponse?.(response);
    if (response.header('idempotent-replayed') === 'true') this.#request.context.fetchLog.markReplayed();
    if (this.#request.isMutation) this.#noteForwarded(response);
    if (this.#target.returned.length > 0) this.#noteReturned(response);
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

  /** Adds to the fetch log the headers of a mutation's response that go back to the client. */
  #noteForwarded(response: ClientResponse): void {
    for (const name of this.#target.forwardResponseHeaders) this.#request.context.fetchLog.forward(name, response.headerValues(name));
  }

  /** Adds to the fetch log the headers that rules return to the client. */
  #noteReturned(response: ClientResponse): void {
    const { fetchLog } = this.#request.context;
    for (const { as, from, fallback } of this.#target.returned) {
      if (as === 'cache-control') {
        const cacheControl = from === undefined ? fallback : (response.header(from) ?? fallback);
        fetchLog.restrictCaching(cacheControl, { age: response.header('age'), vary: response.header('vary') });
        continue;
      }
      const values = from === undefined ? [] : response.headerValues(from);
      if (values.length > 0) fetchLog.forward(as, values);
      else if (fallback !== undefined) fetchLog.forward(as, fallback);
    }
  }

  #retry(pauseMs: number): void {
    this.#isRetry = true;
    this.#target.onRetry();
    setTimeout(() => {
      this.start();
    }, pauseMs);
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

/** The cause contains addresses and is for the log only. */
function toFailure(service: string, cause: Error): SubgraphFailure {
  // The files of the client's own request exceed a limit.
  if (cause instanceof Fault) return { code: cause.code, message: cause.message, cause: undefined };
  if (cause instanceof TooManyRequests)
    return { code: 'SERVICE_UNAVAILABLE', message: `The limit of requests to the subgraph ${service} is reached. Retry later.`, cause };
  if (cause instanceof OperationExpired)
    return { code: 'UPSTREAM_TIMEOUT', message: `The subgraph ${service} did not respond within the time limit of the operation.`, cause };
  return cause instanceof ClientError && cause.code === 'TIMEOUT'
    ? { code: 'UPSTREAM_TIMEOUT', message: `The subgraph ${service} did not respond in time.`, cause }
    : { code: 'UPSTREAM_ERROR', message: `The request to the subgraph ${service} failed.`, cause };
}
