/** OpenTelemetry spans of one process: started here, exported by OTLP over HTTP when there is an endpoint. */
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import { Scope } from './scope.ts';

export { Scope } from './scope.ts';

export interface Tracing {
  /**
   * Starts the SERVER span of a request. It continues the trace of a valid `traceparent` header (W3C Trace Context) and starts a new trace otherwise.
   * Returns undefined when spans are not exported and there is no trace to pass on. `baggage` is ignored: it comes from outside and would go on
   * to every subgraph.
   */
  begin(headers: IncomingHttpHeaders): Scope | undefined;
  /** Exports the spans that have ended, for at most a second, and resolves. Nothing is exported afterwards. */
  stop(): Promise<void>;
}

/** At most this much of an attribute is exported, in characters. */
const MAX_ATTRIBUTE_LENGTH = 2048;
/** At most this many ended spans wait for the exporter; later ones are dropped. */
const MAX_WAITING_SPANS = 2048;
const EXPORT_INTERVAL_MS = 1000;
/** A collector that does not answer must not hold up the end of the process. */
const STOP_MS = 1000;

/**
 * Creates the tracing of a process. `service` becomes the resource's `service.name`, as `trestle-<service>`; `endpoint` is
 * OTEL_EXPORTER_OTLP_ENDPOINT, to which `/v1/traces` is added. Without an endpoint nothing is exported, and the trace context of a client is
 * passed on unchanged (W3C Trace Context §3.4).
 */
export async function createTracing({
  service,
  endpoint,
}: {
  readonly service: string;
  readonly endpoint: string | undefined;
}): Promise<Tracing> {
  const { W3CTraceContextPropagator } = await import('@opentelemetry/core');
  const propagator = new W3CTraceContextPropagator();
  const provider = endpoint === undefined ? undefined : await createProvider(service, endpoint);
  // Without a provider the API's own spans stand for their parent and are never recorded.
  const tracer = provider?.getTracer(`trestle-${service}`) ?? trace.getTracer('trestle');
  return {
    begin(headers) {
      if (!provider && headers['traceparent'] === undefined) return undefined;
      const parent = propagator.extract(ROOT_CONTEXT, headers, HEADERS);
      return new Scope({ tracer, propagator }, { name: 'request', kind: SpanKind.SERVER, parent });
    },
    stop: async () => {
      if (provider) await Promise.race([provider.shutdown(), setTimeout(STOP_MS, undefined, { ref: false })]);
    },
  };
}

/** Loads the SDK, which is larger than all that uses it. */
async function createProvider(service: string, endpoint: string) {
  const { BatchSpanProcessor, NodeTracerProvider } = await import('@opentelemetry/sdk-trace-node');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { resourceFromAttributes } = await import('@opentelemetry/resources');
  const { ATTR_SERVICE_NAME } = await import('@opentelemetry/semantic-conventions');
  const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
  return new NodeTracerProvider({
    resource: resourceFromAttributes({ [ATTR_SERVICE_NAME]: `trestle-${service}` }),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: EXPORT_INTERVAL_MS, maxQueueSize: MAX_WAITING_SPANS })],
  });
}

const HEADERS = {
  get: (headers: unknown, name: string) => (headers as IncomingHttpHeaders)[name],
  keys: (headers: unknown) => Object.keys(headers as IncomingHttpHeaders),
};
