/** Writes the metrics of a process as text, for Prometheus and everything that reads its formats. */
import type { IncomingHttpHeaders } from 'node:http';
import { type Metric, Registry } from 'prom-client';
import type { ProbeResponse } from './probe-response.ts';

/** A metric and its values, as `Registry.getMetricsAsJSON` gives them. */
interface Counted {
  readonly name: string;
  readonly type: string;
  readonly values: readonly object[];
}

const OPEN_METRICS = 'application/openmetrics-text';

/**
 * Returns all metrics in the format that the request prefers: OpenMetrics 1.0, which has exemplars, where `Accept` names it, as Prometheus does;
 * else Prometheus text 0.0.4. The lines of one name stand together, as both formats demand.
 */
export async function readMetrics(
  registries: readonly Registry[],
  { headers }: { readonly headers: Pick<IncomingHttpHeaders, 'accept'> },
): Promise<ProbeResponse> {
  const hasExemplars = headers.accept?.includes(OPEN_METRICS) === true;
  const type = hasExemplars ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
  const writer = new Registry<typeof Registry.PROMETHEUS_CONTENT_TYPE | typeof Registry.OPENMETRICS_CONTENT_TYPE>();
  writer.setContentType(type);
  const texts = (await readAll(registries)).map((metric) => {
    const written = toWritten(metric, hasExemplars);
    writer.registerMetric(written as unknown as Metric);
    return writer.getSingleMetricAsString(written.name);
  });
  const separator = hasExemplars ? '\n' : '\n\n';
  return { status: 200, type, body: `${(await Promise.all(texts)).join(separator)}\n${hasExemplars ? '# EOF\n' : ''}` };
}

/** Returns the metrics of all registries; those of one name are one. */
async function readAll(registries: readonly Registry[]): Promise<Counted[]> {
  const byName = new Map<string, Counted>();
  for (const registry of registries)
    for (const metric of (await registry.getMetricsAsJSON()) as unknown as Counted[]) {
      const other = byName.get(metric.name);
      byName.set(metric.name, other ? { ...other, values: [...other.values, ...metric.values] } : metric);
    }
  return [...byName.values()];
}

/**
 * Returns what a registry uses of a metric. In OpenMetrics the name of a counter has no `_total`, which its values have: prom-client adds it
 * there.
 */
function toWritten(metric: Counted, isOpenMetrics: boolean) {
  const name = isOpenMetrics && metric.type === 'counter' ? metric.name.replace(/_total$/, '') : metric.name;
  return { name, get: () => Promise.resolve({ ...metric, name }) };
}
