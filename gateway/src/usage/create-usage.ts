/**
 * Decides where a graph reports usage: to Hive, when it has a token of it, to GraphOS, when a setting says so, or to the registry that it comes from,
 * unless a setting says otherwise.
 */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { SourceSettings } from '../configuration/choose-source.ts';
import type { UsageFormat } from '../request/operation-usage.ts';
import { toHive } from './hive/hive-destination.ts';
import { toRegistry } from './registry/registry-destination.ts';
import type { UsageDestination } from './usage-destination.ts';
import { UsageReporter } from './usage-reporter.ts';

/** The settings of a graph that are about usage. */
export interface UsageSettings {
  readonly supergraph: SourceSettings;
  readonly GATEWAY_ENGINE: 'trestle' | 'apollo';
  readonly USAGE_REPORTS: boolean;
  readonly USAGE_INTERVAL_MS: number;
  readonly USAGE_MAX_BYTES: number;
  readonly HIVE_ACCESS_TOKEN?: string | undefined;
  readonly HIVE_TARGET?: string | undefined;
  readonly HIVE_USAGE_ENDPOINT: string;
  readonly HIVE_USAGE_SAMPLE_RATE: number;
  readonly APOLLO_USAGE_REPORTS: boolean;
  readonly APOLLO_USAGE_REPORTING_INGRESS_URL: string;
  readonly APOLLO_GRAPH_REF?: string | undefined;
  readonly APOLLO_KEY?: string | undefined;
}

/** Returns what operations are described for; undefined when nothing is reported. The engine apollo does not say which operation a request had. */
export function findUsageFormat(settings: UsageSettings): UsageFormat | undefined {
  if (!settings.USAGE_REPORTS || settings.GATEWAY_ENGINE === 'apollo') return undefined;
  if (settings.HIVE_ACCESS_TOKEN !== undefined) return 'hive';
  if (settings.APOLLO_USAGE_REPORTS) return 'graphos';
  return settings.supergraph.kind === 'registry' ? 'registry' : undefined;
}

/** Creates the reporter; undefined for a graph that reports nothing. */
export async function createUsage(
  settings: UsageSettings,
  { log, metrics }: { readonly log: Log; readonly metrics: Registry },
): Promise<UsageReporter | undefined> {
  const { USAGE_INTERVAL_MS: intervalMs, USAGE_MAX_BYTES: maxBytes } = settings;
  const destination = await findDestination(settings);
  return destination && new UsageReporter({ destination, intervalMs, maxBytes, log, metrics });
}

async function findDestination(settings: UsageSettings): Promise<UsageDestination | undefined> {
  const { supergraph, HIVE_ACCESS_TOKEN: token, HIVE_TARGET: target, HIVE_USAGE_ENDPOINT: endpoint } = settings;
  const format = findUsageFormat(settings);
  if (format === 'hive' && token !== undefined) return toHive({ endpoint, target, token, sampleRate: settings.HIVE_USAGE_SAMPLE_RATE });
  if (format === 'graphos') return findGraphos(settings);
  return format === 'registry' && supergraph.kind === 'registry' ? toRegistry(supergraph) : undefined;
}

/** Loads what writes reports for GraphOS: its format is 370 KB of code. */
async function findGraphos(settings: UsageSettings): Promise<UsageDestination | undefined> {
  const { APOLLO_USAGE_REPORTING_INGRESS_URL: endpoint, APOLLO_KEY: key, APOLLO_GRAPH_REF: graphRef } = settings;
  if (key === undefined || graphRef === undefined) return undefined;
  const { toGraphos } = await import('./graphos/graphos-destination.ts');
  return toGraphos({ endpoint, key, graphRef });
}
