/** Chooses OpenTelemetry's exporters by the protocol of the settings. */
import type { TelemetrySettings } from './settings.ts';

/** Loads the exporters, which are large. Those of both protocols have the same options. */
export function loadExporters({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol }: TelemetrySettings) {
  return protocol === 'http/protobuf' ? import('./protobuf-exporters.ts') : import('./json-exporters.ts');
}
