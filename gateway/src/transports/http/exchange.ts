/** One HTTP request to the gateway and its response, from the head of the request to its line in the access log. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { takeUrlKeys } from '@trestle/identity/credentials/credential';
import type { Log } from '@trestle/log';
import { toRequestId } from '@trestle/service/messages/request-id';
import type { Scope, Tracing } from '@trestle/telemetry';
import type { RecordHeaders } from '../../observability/recorded-headers.ts';
import type { RequestMetrics } from '../../observability/request-metrics.ts';
import { RequestRecord, UNMATCHED } from '../../observability/request-record.ts';
import { isAt, toTarget } from '../../observability/tracing.ts';
import type { OperationResult } from '../../request/operation.ts';
import { chooseVary } from './cache-control.ts';
import type { Compression } from './compression.ts';
import { type RefusalFormat, sendRefusal } from './refusal.ts';
import { type Head, sendBytes, sendNotModified, sendText } from './send.ts';

export interface ExchangeOptions {
  /** The path of GraphQL requests. */
  readonly path: string;
  readonly log: Log;
  readonly metrics: RequestMetrics;
  readonly tracing: Tracing;
  readonly compression: Compression;
  /** Finds the headers for the record of a request. */
  readonly recordHeaders: RecordHeaders;
  /** Returns `Vary` of responses that caches may keep. It changes with the trusted documents. */
  readonly readCacheVary: () => string;
}

/** What is served at another path than GraphQL requests. */
export interface ServedPath {
  readonly path: string;
  readonly refusals: RefusalFormat;
}

export class HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** Undefined unless spans are exported or the client sent a trace to pass on. */
  readonly trace: Scope | undefined;
  readonly record: RequestRecord;
  /** The API keys that were in the URL, which no longer contains them. */
  readonly urlKeys: readonly string[];
  readonly compression: Compression;
  readonly #readCacheVary: () => string;
  readonly #log: Log;
  readonly #refusals: RefusalFormat | undefined;

  /** `served` is undefined for a GraphQL request. */
  constructor(request: IncomingMessage, response: ServerResponse, options: ExchangeOptions & { readonly served?: ServedPath | undefined }) {
    const { path, log, metrics, tracing, compression, recordHeaders, readCacheVary, served } = options;
    this.urlKeys = takeUrlKeys(request);
    // A page that links elsewhere must not pass on the URL that the browser shows.
    if (this.urlKeys.length > 0) response.setHeader('referrer-policy', 'no-referrer');
    this.request = request;
    this.response = response;
    this.requestId = toRequestId(request.headers['x-request-id']);
    this.trace = tracing.begin(request.headers);
    const { requestId, trace } = this;
    const servedPath = served?.path ?? path;
    const route = isAt(request, servedPath) ? servedPath : UNMATCHED;
    const headers = recordHeaders(request.headers);
    const target = trace?.isExported ? toTarget(request, servedPath) : undefined;
    const recorded = { method: request.method ?? '', route, requestId, trace, headers, target };
    this.record = new RequestRecord(recorded, { metrics, log });
    this.compression = compression;
    this.#readCacheVary = readCacheVary;
    this.#log = log;
    this.#refusals = served?.refusals;
  }

  /** `Vary` of its response, unless the head of the response has another. */
  get vary(): string {
    return chooseVary(this.request, this.#readCacheVary);
  }

  /** Runs a step of the request. An exception becomes the response: it ends the request, not the process. */
  guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Waits for a step of the request, and responds with its error when it fails. */
  guardAsync(step: Promise<void>): void {
    step.catch((error: unknown) => {
      this.#refuse(error);
    });
  }

  sendText(status: number, head: Head, text: string): void {
    sendText(this, { status, head, text });
    this.end();
  }

  /** Sends 304 with what is new of the head (RFC 9110 §15.4.5). */
  sendNotModified(head: Head): void {
    sendNotModified(this, head);
    this.end();
  }

  sendResult(status: number, head: Head, result: OperationResult): void {
    sendBytes(this, { status, head, result });
    this.end();
  }

  /** Ends the record of the request. Later calls do nothing. */
  end(): void {
    this.record.end(this.response.statusCode);
  }

  #refuse(error: unknown): void {
    sendRefusal(this, { error, log: this.#log, format: this.#refusals });
    this.end();
  }
}
