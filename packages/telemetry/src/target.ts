/** Where the telemetry of a process goes: the collector, by signal. */
import type { TelemetrySettings } from './settings.ts';

/** What is exported. */
export type Signal = 'traces' | 'metrics' | 'logs';

/** What an exporter of OpenTelemetry needs to know. */
export interface Target {
  readonly url: string;
  /** Secret: they may have a token. */
  readonly headers: Record<string, string>;
}

/**
 * Returns where a signal is exported to: its own endpoint as it is, else the endpoint of all, with `/v1/<signal>` for HTTP (OpenTelemetry, "OTLP
 * Exporter Configuration"). Undefined where there is neither.
 */
export function findTarget(signal: Signal, settings: TelemetrySettings): Target | undefined {
  const own = {
    traces: settings.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT,
    metrics: settings.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT,
    logs: settings.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT,
  }[signal];
  const all = settings.OTEL_EXPORTER_OTLP_ENDPOINT;
  const path = settings.OTEL_EXPORTER_OTLP_PROTOCOL === 'grpc' ? '' : `/v1/${signal}`;
  const url = own ?? (all === undefined ? undefined : `${all.replace(/\/$/, '')}${path}`);
  return url === undefined ? undefined : { url, headers: Object.fromEntries(settings.OTEL_EXPORTER_OTLP_HEADERS) };
}
