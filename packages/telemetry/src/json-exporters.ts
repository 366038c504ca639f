/** OpenTelemetry's exporters of OTLP as JSON over HTTP. Loaded only where something is exported. */
export { OTLPLogExporter } from '@opentelemetry/exporter-logs-otlp-http';
export { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
