/** The settings of telemetry. Names and values are those of OpenTelemetry ("Environment Variable Specification"). */
import { setting } from '@trestle/env';
import { DEFAULT_PROPAGATORS, PROPAGATORS, type PropagatorName } from './propagator-names.ts';
import { ATTRIBUTES, HEADERS, findLimit, readPairs } from './pairs.ts';

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
/** Reads the name of a format. */
const isPropagator = (name: string): name is PropagatorName => (PROPAGATORS as readonly string[]).includes(name);

const PROTOCOLS = ['http/json', 'http/protobuf', 'grpc'] as const;

type Pairs = ReadonlyMap<string, string>;
const NO_PAIRS: Pairs = new Map();

const address = () => setting.url('http:', 'https:').optional();

/** Reads the name of a service. */
function readServiceName(name: string): string {
  const limit = findLimit(name);
  if (limit !== undefined) throw new Error(`must be a string ${limit}`);
  return name;
}

/** Header names have no case. */
function readHeaders(text: string): Pairs {
  return new Map([...readPairs(text, HEADERS)].map(([name, value]) => [name.toLowerCase(), value]));
}

/** The settings of telemetry, the same for every process. */
export const telemetrySettings = {
  OTEL_SERVICE_NAME: setting.parsed(readServiceName).optional(),
  OTEL_RESOURCE_ATTRIBUTES: setting.parsed((text) => readPairs(text, ATTRIBUTES), 'map').default(NO_PAIRS),
  OTEL_EXPORTER_OTLP_ENDPOINT: address(),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting.choice(...PROTOCOLS).default('http/json'),
  OTEL_EXPORTER_OTLP_HEADERS: setting.parsed(readHeaders, 'map').default(NO_PAIRS),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: address(),
  OTEL_PROPAGATORS: setting.list(isPropagator, `must be among ${PROPAGATORS.join(', ')}`).default([...DEFAULT_PROPAGATORS]),
  OTEL_TRACES_SAMPLER: setting.choice(...SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: setting.number(0, 1).default(1),
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: address(),
  OTEL_METRICS_EXPORTER: setting.choice(...EXPORTERS).default('none'),
  OTEL_METRIC_EXPORT_INTERVAL: setting.integer(1000, 3_600_000).default(60_000),
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: address(),
  OTEL_LOGS_EXPORTER: setting.choice(...EXPORTERS).default('none'),
};

/** The values of {@link telemetrySettings}. */
export interface TelemetrySettings {
  readonly OTEL_SERVICE_NAME?: string | undefined;
  readonly OTEL_RESOURCE_ATTRIBUTES: Pairs;
  readonly OTEL_EXPORTER_OTLP_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_PROTOCOL: (typeof PROTOCOLS)[number];
  /** By names in lower case. Secret. */
  readonly OTEL_EXPORTER_OTLP_HEADERS: Pairs;
  readonly OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string | undefined;
  readonly OTEL_EXPORTER_OTLP_LOGS_ENDPOINT?: string | undefined;
  /** Among {@link PROPAGATORS}. */
  readonly OTEL_PROPAGATORS: readonly string[];
  readonly OTEL_TRACES_SAMPLER: SamplerName;
  /** The share of traces that the samplers with `traceidratio` export, 0 to 1. */
  readonly OTEL_TRACES_SAMPLER_ARG: number;
  readonly OTEL_METRICS_EXPORTER: (typeof EXPORTERS)[number];
  /** In milliseconds. */
  readonly OTEL_METRIC_EXPORT_INTERVAL: number;
  readonly OTEL_LOGS_EXPORTER: (typeof EXPORTERS)[number];
}
