/** OpenTelemetry tracing of one process: starts spans, and exports them with OTLP over HTTP when an endpoint is configured. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { SpanKind, trace } from '@opentelemetry/api';
import { createResource } from './resource.ts';
import { createPropagation } from './propagation.ts';
import { loadExporters } from './exporters.ts';
import { Scope } from './scope.ts';
import { type Target, findTarget } from './target.ts';
import type { TelemetrySettings } from './settings.ts';

export { Scope, type SpanIds } from './scope.ts';

/** Traces the requests of a process. */
export interface Tracing {
  /**
   * Starts the SERVER span of a request. It continues the trace of valid headers in the formats of OTEL_PROPAGATORS, by default `traceparent` (W3C
   * Trace Context), and starts a new trace otherwise. Returns undefined when spans are not exported and the request has no trace to propagate.
   * `baggage` is ignored unless it is among the formats, because clients send it and it would be forwarded to every subgraph.
   */
  begin(headers: IncomingHttpHeaders): Scope | undefined;
  /** Exports the spans that have ended, for at most one second, and resolves. Later spans are not exported. */
  stop(): Promise<void>;
}

/** Maximum length of an exported attribute, in characters; longer values are cut. */
const MAX_ATTRIBUTE_LENGTH = 2048;
/** Maximum number of ended spans in the export queue; further spans are dropped. */
const MAX_QUEUED_SPANS = 2048;
const EXPORT_INTERVAL_MS = 1000;
/** A collector that does not respond must not delay the end of the process. */
const STOP_MS = 1000;

/**
 * Creates the tracing of a process, whose spans go to the target of traces with the attributes of the resource (`target.ts`, `resource.ts`). Without an
 * endpoint no span is exported, and the trace context of a client is forwarded unchanged (W3C Trace Context §3.4).
 */
export async function createTracing({
  service,
  settings,
}: {
  readonly service: string;
  readonly settings: TelemetrySettings;
}): Promise<Tracing> {
  const propagation = await createPropagation(settings.OTEL_PROPAGATORS);
  const target = findTarget('traces', settings);
  const provider = target && (await createProvider(service, { target, settings }));
  // Without a provider, spans of the API package are not recorded and carry the context of their parent.
  const tracer = provider?.getTracer(`trestle-${service}`) ?? trace.getTracer('trestle');
  return {
    begin(headers) {
      if (!provider && !propagation.has(headers)) return undefined;
      const parent = propagation.extract(headers);
      return new Scope({ tracer, propagator: propagation }, { name: 'request', kind: SpanKind.SERVER, parent });
    },
    stop: async () => {
      if (provider) await Promise.race([provider.shutdown(), setTimeout(STOP_MS, undefined, { ref: false })]);
    },
  };
}

/** Loads the SDK only when spans are exported, because it is large. */
async function createProvider(service: string, { target, settings }: { readonly target: Target; readonly settings: TelemetrySettings }) {
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const { OTLPTraceExporter } = await loadExporters(settings);
  const { createSampler } = await import('./sampler.ts');
  const exporter = new OTLPTraceExporter(target);
  return new NodeTracerProvider({
    resource: await createResource(service, settings),
    sampler: createSampler(settings),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: EXPORT_INTERVAL_MS, maxQueueSize: MAX_QUEUED_SPANS })],
  });
}
