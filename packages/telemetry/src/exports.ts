/** Exports the metrics and the log of a process with OTLP, where the settings demand it. */
import { setTimeout } from 'node:timers/promises';
import { loadExporters } from './exporters.ts';
import type { LogExport } from './log-export.ts';
import type { MetricSource } from './metric-export.ts';
import { createResource } from './resource.ts';
import type { TelemetrySettings } from './settings.ts';
import { type Target, findTarget } from './target.ts';

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
 * Begins to export what OTEL_METRICS_EXPORTER and OTEL_LOGS_EXPORTER demand; without an endpoint nothing is exported. Resolves
 * with the function that exports the rest, for at most one second, and ends.
 */
export async function startExports({ service, settings, registries, log }: ExportOptions): Promise<() => Promise<void>> {
  const exports: { stop(): Promise<void> }[] = [];
  const metrics = settings.OTEL_METRICS_EXPORTER === 'otlp' ? findTarget('metrics', settings) : undefined;
  if (metrics) {
    const { startMetricExport } = await import('./metric-export.ts');
    const { OTLPMetricExporter } = await loadExporters(settings);
    const resource = await createResource(service, settings);
    const { OTEL_METRIC_EXPORT_INTERVAL: intervalMs } = settings;
    exports.push(startMetricExport({ resource, exporter: new OTLPMetricExporter(metrics), intervalMs, sources: registries }));
  }
  const logs = settings.OTEL_LOGS_EXPORTER === 'otlp' ? findTarget('logs', settings) : undefined;
  if (logs) exports.push(await exportLog(logs, { service, settings, log }));
  return async () => {
    const stopped = Promise.allSettled(exports.map((each) => each.stop()));
    await Promise.race([stopped, setTimeout(STOP_MS, undefined, { ref: false })]);
  };
}

type LogOptions = Pick<ExportOptions, 'service' | 'settings' | 'log'>;

async function exportLog(target: Target, { service, settings, log }: LogOptions): Promise<Pick<LogExport, 'stop'>> {
  const { createLogExport } = await import('./log-export.ts');
  const { OTLPLogExporter } = await loadExporters(settings);
  const lines = createLogExport({ resource: await createResource(service, settings), exporter: new OTLPLogExporter(target) });
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
