/** A span that has started, and the spans within it. */
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions';

/** Where spans come from and how their context is written into headers. */
export interface SpanSource {
  readonly tracer: Tracer;
  readonly propagator: TextMapPropagator<unknown>;
}

export interface ScopeOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly attributes?: Attributes;
}

export class Scope {
  readonly #source: SpanSource;
  readonly #span: Span;
  readonly #context: Context;

  /** Starts a span of `name` within the span of `parent`. */
  constructor(source: SpanSource, { name, kind, parent, attributes = {} }: ScopeOptions) {
    this.#source = source;
    this.#span = source.tracer.startSpan(name, { kind, attributes }, parent);
    this.#context = trace.setSpan(parent, this.#span);
  }

  /** Starts a part of this span's work in the same process. */
  start(name: string, attributes: Attributes = {}): Scope {
    return new Scope(this.#source, { name, kind: SpanKind.INTERNAL, parent: this.#context, attributes });
  }

  /** Starts a call to another process: a subgraph, the gateway, a database. */
  startCall(name: string, attributes: Attributes = {}): Scope {
    return new Scope(this.#source, { name, kind: SpanKind.CLIENT, parent: this.#context, attributes });
  }

  /** Returns the headers that let the other process continue the trace: `traceparent` and, when there is one, `tracestate`. */
  toHeaders(): Record<string, string> {
    const headers: Record<string, string> = {};
    this.#source.propagator.inject(this.#context, headers, {
      set: (carrier, name, value) => {
        (carrier as Record<string, string>)[name] = value;
      },
    });
    return headers;
  }

  /** Names the span again, once more is known of it. */
  rename(name: string): void {
    this.#span.updateName(name);
  }

  /**
   * Ends the span; later calls do nothing. `failure` marks it as failed and becomes `error.type`: an error code or an HTTP status, never a
   * message, which may hold what a client wrote.
   */
  end(attributes: Attributes = {}, failure?: string): void {
    this.#span.setAttributes(attributes);
    if (failure !== undefined) {
      this.#span.setAttribute(ATTR_ERROR_TYPE, failure);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }
}
