/** Exports the metrics and the log of a process with OTLP over HTTP, where the settings demand it. */
import { setTimeout } from 'node:timers/promises';
import type { LogExport } from './log-export.ts';
import type { MetricSource } from './metric-export.ts';
import { createResource } from './resource.ts';
import type { TelemetrySettings } from './settings.ts';

/** What is exported. */
export interface ExportOptions {
  readonly service: string;
  readonly settings: TelemetrySettings;
  /** Read at every export: some are added later. */
  readonly registries: readonly MetricSource[];
  readonly log: { setSink(sink: ((line: string) => void) | undefined): void };
}

/** A collector that does not respond must not delay the end of the process. */
const STOP_MS = 1000;

/**
 * Begins to export what OTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER demand; without OTEL_EXPORTER_OTLP_ENDPOINT nothing is exported. Resolves
 * with the function that exports the rest, for at most one second, and ends.
 */
export async function startExports({ service, settings, registries, log }: ExportOptions): Promise<() => Promise<void>> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_METRIC_EXPORT_INTERVAL: intervalMs } = settings;
  const exports: { stop(): Promise<void> }[] = [];
  if (endpoint !== undefined) {
    const base = endpoint.replace(/\/$/, '');
    if (settings.OTEL_METRICS_EXPORTER === 'otlp') {
      const { startMetricExport } = await import('./metric-export.ts');
      const resource = await createResource(service);
      exports.push(startMetricExport({ resource, url: `${base}/v1/metrics`, intervalMs, sources: registries }));
    }
    if (settings.OTEL_LOGS_EXPORTER === 'otlp') exports.push(await exportLog(`${base}/v1/logs`, { service, log }));
  }
  return async () => {
    const stopped = Promise.allSettled(exports.map((each) => each.stop()));
    await Promise.race([stopped, setTimeout(STOP_MS, undefined, { ref: false })]);
  };
}

async function exportLog(url: string, { service, log }: Pick<ExportOptions, 'service' | 'log'>): Promise<Pick<LogExport, 'stop'>> {
  const { createLogExport } = await import('./log-export.ts');
  const lines = createLogExport({ resource: await createResource(service), url });
  log.setSink((line) => {
    lines.add(line);
  });
  return {
    stop: () => {
      log.setSink(undefined);
      return lines.stop();
    },
  };
}
