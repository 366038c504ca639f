/** Chooses OpenTelemetry's exporters by the protocol of the settings. */
import type { LogRecordExporter } from '@opentelemetry/sdk-logs';
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics';
import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { TelemetrySettings } from './settings.ts';
import type { Target } from './target.ts';

/** Creates the exporter of each signal. */
export interface Exporters {
  readonly OTLPTraceExporter: new (target: Target) => SpanExporter;
  readonly OTLPMetricExporter: new (target: Target) => PushMetricExporter;
  readonly OTLPLogExporter: new (target: Target) => LogRecordExporter;
}

const LOADERS: Readonly<Record<TelemetrySettings['OTEL_EXPORTER_OTLP_PROTOCOL'], () => Promise<Exporters>>> = {
  'http/json': () => import('./json-exporters.ts'),
  'http/protobuf': () => import('./protobuf-exporters.ts'),
  grpc: () => import('./grpc-exporters.ts'),
};

/** Loads the exporters, which are large. */
export function loadExporters({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol }: TelemetrySettings): Promise<Exporters> {
  return LOADERS[protocol]();
}
