/** Exports the metrics of a process with OTLP. Loaded only where that is on. */
import { hrTime, millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  MeterProvider,
  type MetricData,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics';
import { type PrometheusMetric, toMetricData } from './metric-data.ts';

/** What prom-client's `Registry` has. */
export interface MetricSource {
  getMetricsAsJSON(): Promise<unknown>;
}

/** Where metrics come from, and where they go. */
export interface MetricExportOptions {
  readonly resource: Resource;
  readonly exporter: PushMetricExporter;
  readonly intervalMs: number;
  /** Read at every export: some are added later. */
  readonly sources: readonly MetricSource[];
}

/** Begins to export. Resolves, when `stop` is called, after a last export. A collector that is away is tried again at the next interval. */
export function startMetricExport({ resource, exporter, intervalMs, sources }: MetricExportOptions): { stop(): Promise<void> } {
  const startTime = millisToHrTime(performance.timeOrigin);
  const producer: MetricProducer = {
    collect: async () => {
      const interval = { startTime, endTime: hrTime() };
      const found = (await Promise.all(sources.map((source) => source.getMetricsAsJSON()))) as PrometheusMetric[][];
      const metrics = found.flat().map((metric) => toMetricData(metric, interval));
      const scopeMetrics = [{ scope: { name: 'trestle' }, metrics: metrics.filter((each): each is MetricData => each !== undefined) }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: intervalMs,
    exportTimeoutMillis: Math.min(intervalMs, 10_000),
    metricProducers: [producer],
  });
  const provider = new MeterProvider({ resource, readers: [reader] });
  return { stop: () => provider.shutdown() };
}
