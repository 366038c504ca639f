/**
 * OpenTelemetry spans: the request, its plan, a fetch for each call to a subgraph, the writing of the answer. The SDK is loaded only when there is an
 * endpoint to export to; without one nothing here is ever called.
 */
import type { IncomingHttpHeaders } from 'node:http';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, propagation, trace } from '@opentelemetry/api';

/** The spans of one request. */
export interface RequestTrace {
  /** Begins a part of the request; what it gives ends it. */
  start(name: 'plan' | 'write'): () => void;
  /** Begins a call to a subgraph: headers, in turn with their values, that let its own spans join, and what ends it, with the code of a failure. */
  startFetch(subgraph: string): { readonly headers: readonly string[]; readonly end: (code?: string) => void };
  end(result: { readonly status: number; readonly operation: string | undefined; readonly kind: string | undefined }): void;
}

export interface Tracing {
  /** Joins the trace of the client's `traceparent`, or begins one. */
  begin(headers: IncomingHttpHeaders): RequestTrace;
  /** Exports what is left. */
  stop(): Promise<void>;
}

/** `endpoint` is OTEL_EXPORTER_OTLP_ENDPOINT, to which `/v1/traces` is added. */
export async function createTracing(endpoint: string): Promise<Tracing> {
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'trestle-gateway' }),
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1000 })],
  });
  // Sets the propagation of traceparent and baggage (W3C).
  provider.register();
  const tracer = provider.getTracer('trestle-gateway');
  return {
    begin: (headers) => createRequestTrace(tracer, propagation.extract(ROOT_CONTEXT, headers)),
    stop: () => provider.shutdown(),
  };
}

function createRequestTrace(tracer: Tracer, from: Context): RequestTrace {
  const request = tracer.startSpan('request', { kind: SpanKind.SERVER }, from);
  const within = trace.setSpan(from, request);
  return {
    start(name) {
      const span = tracer.startSpan(name, {}, within);
      return () => {
        span.end();
      };
    },
    startFetch(subgraph) {
      const span = tracer.startSpan('fetch', { kind: SpanKind.CLIENT, attributes: { 'trestle.subgraph': subgraph } }, within);
      const carrier: Record<string, string> = {};
      propagation.inject(trace.setSpan(within, span), carrier);
      return {
        headers: Object.entries(carrier).flat(),
        end: (code) => {
          finish(span, code);
        },
      };
    },
    end({ status, operation, kind }) {
      request.setAttributes({
        'http.response.status_code': status,
        ...(operation !== undefined && { 'graphql.operation.name': operation }),
        ...(kind !== undefined && { 'graphql.operation.type': kind }),
      });
      finish(request, status >= 500 ? String(status) : undefined);
    },
  };
}

/** The code alone: messages may name what is nobody's business. */
function finish(span: Span, code: string | undefined): void {
  if (code !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: code });
  span.end();
}
