/** OpenTelemetry's exporters of OTLP as protobuf over HTTP. Loaded only where OTEL_EXPORTER_OTLP_PROTOCOL demands it. */
export { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-proto';
export { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
