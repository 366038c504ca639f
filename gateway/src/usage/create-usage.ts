/** Decides whether a graph reports usage: when it comes from the registry, and no setting says otherwise. */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { SourceSettings } from '../configuration/choose-source.ts';
import { UsageReporter } from './usage-reporter.ts';

/** The settings of a graph that are about usage. */
export interface UsageSettings {
  readonly supergraph: SourceSettings;
  readonly GATEWAY_ENGINE: 'trestle' | 'apollo';
  readonly USAGE_REPORTS: boolean;
  readonly USAGE_INTERVAL_MS: number;
  readonly USAGE_MAX_BYTES: number;
}

/** Returns whether usage is reported. The engine apollo does not say which operation a request had. */
export function reportsUsage({ supergraph, GATEWAY_ENGINE: engine, USAGE_REPORTS: isOn }: UsageSettings): boolean {
  return isOn && supergraph.kind === 'registry' && engine === 'trestle';
}

/** Creates the reporter; undefined for a graph that reports nothing. */
export function createUsage(
  settings: UsageSettings,
  { log, metrics }: { readonly log: Log; readonly metrics: Registry },
): UsageReporter | undefined {
  const { supergraph, USAGE_INTERVAL_MS: intervalMs, USAGE_MAX_BYTES: maxBytes } = settings;
  if (!reportsUsage(settings) || supergraph.kind !== 'registry') return undefined;
  return new UsageReporter({ target: supergraph, intervalMs, maxBytes, log, metrics });
}
