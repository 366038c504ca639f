/** Records one request, or one operation of a WebSocket, in metrics, its trace and the access log. */
import type { Log } from '@trestle/log';
import type { Scope } from '@trestle/telemetry';
import { toOperationLabel } from './operation-label.ts';
import type { RecordedHeaders } from './recorded-headers.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { type RequestTarget, endRequestSpan } from './tracing.ts';

export interface RecordedRequest {
  /** The HTTP method, or `WS` for an operation over a WebSocket. */
  readonly method: string;
  /** The path, or {@link UNMATCHED}. */
  readonly route: string;
  readonly requestId: string;
  readonly trace: Scope | undefined;
  /** Undefined without any. */
  readonly headers: RecordedHeaders | undefined;
  /** Undefined unless the span is exported. */
  readonly target: RequestTarget | undefined;
}

export interface RecordOptions {
  readonly metrics: RequestMetrics;
  readonly log: Log;
}

/** The route of a request whose path does not exist. As in the log of the bridge. */
export const UNMATCHED = 'unmatched';

/** Starts when it is created. */
export class RequestRecord {
  readonly #request: RecordedRequest;
  readonly #options: RecordOptions;
  readonly #startedAt = performance.now();
  #route: string;
  #operation: string | undefined;
  #kind: string | undefined;
  #isMeasured = false;
  #isEnded = false;

  constructor(request: RecordedRequest, options: RecordOptions) {
    this.#request = request;
    this.#options = options;
    this.#route = request.route;
    options.metrics.begin();
  }

  /** Notes the operation of the request, once it is known. */
  setOperation(name: string | undefined, kind: string | undefined): void {
    this.#operation = toOperationLabel(name);
    this.#kind = kind;
  }

  /** Notes the route of a request that is not sent to it, such as one for GraphiQL. */
  setRoute(route: string): void {
    this.#route = route;
  }

  /** Counts the request in metrics and ends its span: when the response is written, or when a stream begins. Later calls do nothing. */
  measure(status: number): void {
    if (this.#isMeasured) return;
    this.#isMeasured = true;
    const [operation, kind] = [this.#operation, this.#kind];
    const { method, trace, headers, target } = this.#request;
    const route = this.#route;
    const seconds = (performance.now() - this.#startedAt) / 1000;
    this.#options.metrics.end({ status, seconds, operation, span: trace?.ids });
    if (trace && target) endRequestSpan(trace, { method, route, status, operation, kind, headers, target });
  }

  /** Measures the request if that has not happened, and writes its line to the access log. Later calls do nothing. */
  end(status: number): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.measure(status);
    const { requestId, method, trace, headers } = this.#request;
    const route = this.#route;
    const durationMs = Math.round(performance.now() - this.#startedAt);
    const operation = this.#operation;
    // Names each property, because spreads are slow.
    const fields =
      operation === undefined
        ? { requestId, method, route, status, durationMs }
        : { requestId, method, route, status, durationMs, operation };
    const identified = trace ? { ...fields, ...trace.ids } : fields;
    this.#options.log.access(headers ? { ...identified, headers } : identified);
  }
}
