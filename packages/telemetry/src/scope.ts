/** A started span, which creates its child spans. */
import {
  type Attributes,
  type Context,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  type TextMapSetter,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions';

/** Creates spans, and writes their context into headers. */
export interface SpanSource {
  readonly tracer: Tracer;
  readonly propagator: Pick<TextMapPropagator<unknown>, 'inject'>;
}

/** Configures a span. */
export interface ScopeOptions {
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent: Context;
  readonly attributes?: Attributes;
}

/** Names a span. */
export interface SpanIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

const FIELDS: TextMapSetter<unknown> = {
  set: (carrier, name, value) => {
    (carrier as Record<string, string>)[name] = value;
  },
};

/** Holds a span that has started. Its methods start child spans, propagate its context and end it. */
export class Scope {
  readonly #source: SpanSource;
  readonly #span: Span;
  readonly #context: Context;
  #headers: Readonly<Record<string, string>> | undefined;
  /** Whether the span is exported. Otherwise its methods cost little, and do no more than pass on the trace. */
  readonly isExported: boolean;

  /** Starts a span as a child of the span in `parent`. */
  constructor(source: SpanSource, { name, kind, parent, attributes = {} }: ScopeOptions) {
    this.#source = source;
    this.#span = source.tracer.startSpan(name, { kind, attributes }, parent);
    this.#context = trace.setSpan(parent, this.#span);
    this.isExported = this.#span.isRecording();
  }

  /** The ids of the span; undefined for one that is not exported. */
  get ids(): SpanIds | undefined {
    if (!this.isExported) return undefined;
    const { traceId, spanId } = this.#span.spanContext();
    return { traceId, spanId };
  }

  /** Starts a child span for work in this process (kind INTERNAL). */
  start(name: string, attributes: Attributes = {}): Scope {
    return this.#startChild(name, SpanKind.INTERNAL, attributes);
  }

  /** Starts a child span for a call to another process, such as a subgraph, the gateway or a database (kind CLIENT). */
  startCall(name: string, attributes: Attributes = {}): Scope {
    return this.#startChild(name, SpanKind.CLIENT, attributes);
  }

  /** The headers with which another process continues the trace: by default `traceparent`, and `tracestate` when the trace has one. */
  get headers(): Readonly<Record<string, string>> {
    return (this.#headers ??= this.#createHeaders());
  }

  #createHeaders(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    this.#source.propagator.inject(this.#context, headers, FIELDS);
    return headers;
  }

  /** Replaces the name of the span. */
  rename(name: string): void {
    this.#span.updateName(name);
  }

  /**
   * Ends the span; later calls do nothing. `failure` marks it as failed and becomes `error.type`: an error code or an HTTP status, never a
   * message, which may contain input of a client.
   */
  end(attributes: Attributes = {}, failure?: string): void {
    if (!this.isExported) return;
    this.#span.setAttributes(attributes);
    if (failure !== undefined) {
      this.#span.setAttribute(ATTR_ERROR_TYPE, failure);
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#span.end();
  }

  /** No sampler exports the child of a span that is not exported. Such a child would cost its ids and a context, and nobody could see it. */
  #startChild(name: string, kind: SpanKind, attributes: Attributes): Scope {
    return this.isExported ? new Scope(this.#source, { name, kind, parent: this.#context, attributes }) : this;
  }
}
