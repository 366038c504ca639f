/** The settings of telemetry. Names and values are those of OpenTelemetry ("Environment Variable Specification"). */
import { setting } from '@trestle/env';

/** How it is decided which traces are exported. Those with `parentbased_` follow the decision of the process before, which `traceparent` has. */
export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Names one of {@link SAMPLERS}. */
export type SamplerName = (typeof SAMPLERS)[number];

const EXPORTERS = ['none', 'otlp'] as const;

/** The settings of telemetry, the same for every process. */
export const telemetrySettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.url('http:', 'https:').optional(),
  OTEL_TRACES_SAMPLER: setting.choice(...SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: setting.number(0, 1).default(1),
  OTEL_METRICS_EXPORTER: setting.choice(...EXPORTERS).default('none'),
  OTEL_METRIC_EXPORT_INTERVAL: setting.integer(1000, 3_600_000).default(60_000),
  OTEL_LOGS_EXPORTER: setting.choice(...EXPORTERS).default('none'),
};

/** The values of {@link telemetrySettings}. */
export interface TelemetrySettings {
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_TRACES_SAMPLER: SamplerName;
  /** The share of traces that the samplers with `traceidratio` export, 0 to 1. */
  readonly OTEL_TRACES_SAMPLER_ARG: number;
  readonly OTEL_METRICS_EXPORTER: (typeof EXPORTERS)[number];
  /** In milliseconds. */
  readonly OTEL_METRIC_EXPORT_INTERVAL: number;
  readonly OTEL_LOGS_EXPORTER: (typeof EXPORTERS)[number];
}
