/** OpenTelemetry's exporters of OTLP by gRPC. Loaded only where OTEL_EXPORTER_OTLP_PROTOCOL demands it. */
import { Metadata } from '@grpc/grpc-js';
import * as logs from '@opentelemetry/exporter-logs-otlp-grpc';
import * as metrics from '@opentelemetry/exporter-metrics-otlp-grpc';
import * as traces from '@opentelemetry/exporter-trace-otlp-grpc';
import type { Target } from './target.ts';

/** The scheme of the URL decides whether the connection has TLS. Headers are metadata in gRPC. */
function toOptions({ url, headers }: Target): { readonly url: string; readonly metadata: Metadata } {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { url, metadata };
}

/** Exports spans. */
export class OTLPTraceExporter extends traces.OTLPTraceExporter {
  constructor(target: Target) {
    super(toOptions(target));
  }
}

/** Exports metrics. */
export class OTLPMetricExporter extends metrics.OTLPMetricExporter {
  constructor(target: Target) {
    super(toOptions(target));
  }
}

/** Exports lines of the log. */
export class OTLPLogExporter extends logs.OTLPLogExporter {
  constructor(target: Target) {
    super(toOptions(target));
  }
}
