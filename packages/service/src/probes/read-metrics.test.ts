import { describe, expect, it } from '@jest/globals';
import { Counter, Gauge, Registry } from 'prom-client';
import { createHistogram } from './histogram.ts';
import { readMetrics } from './read-metrics.ts';

const OPEN_METRICS = { headers: { accept: 'application/openmetrics-text; version=1.0.0' } };
const TEXT = { headers: { accept: '*/*' } };

/** The registries of a process that serves two graphs. */
function createRegistries(): Registry[] {
  return ['one', 'two'].map((graph, i) => {
    const registry = new Registry();
    registry.setDefaultLabels({ graph });
    new Counter({ name: 'reads_total', help: 'Reads.', registers: [registry] }).inc(i + 1);
    new Gauge({ name: 'open', help: 'A "quoted" help.', registers: [registry] }).set(i);
    return registry;
  });
}

describe('the metrics of several registries', () => {
  it('are Prometheus text where OpenMetrics is not accepted; the series of one name stand together', async () => {
    const { type, body } = await readMetrics(createRegistries(), TEXT);
    expect(type).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body).toBe(
      [
        '# HELP reads_total Reads.\n# TYPE reads_total counter\nreads_total{graph="one"} 1\nreads_total{graph="two"} 2',
        '# HELP open A "quoted" help.\n# TYPE open gauge\nopen{graph="one"} 0\nopen{graph="two"} 1\n',
      ].join('\n\n'),
    );
  });

  it('are OpenMetrics where it is accepted: families of counters have no `_total`, and the last line is EOF', async () => {
    const { type, body } = await readMetrics(createRegistries(), OPEN_METRICS);
    expect(type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(body).toBe(
      '# HELP reads Reads.\n# TYPE reads counter\nreads_total{graph="one"} 1\nreads_total{graph="two"} 2\n' +
        '# HELP open A "quoted" help.\n# TYPE open gauge\nopen{graph="one"} 0\nopen{graph="two"} 1\n# EOF\n',
    );
  });

  it('are the same at the next request, in either format', async () => {
    const registries = createRegistries();
    const read = async () => [(await readMetrics(registries, TEXT)).body, (await readMetrics(registries, OPEN_METRICS)).body];
    expect(await read()).toEqual(await read());
  });
});

it('has the last span of each bucket as its exemplar in OpenMetrics, and none in Prometheus text', async () => {
  const registry = new Registry();
  const series = createHistogram({ registry, name: 'h', help: 'H.', labelNames: [], buckets: [1, 2] })({});
  const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
  series.observe(0.5, { traceId: 'f'.repeat(32), spanId });
  series.observe(0.75, { traceId, spanId });
  series.observe(1.5);
  const { body } = await readMetrics([registry], OPEN_METRICS);
  const [first, second] = body.split('\n').filter((line) => line.startsWith('h_bucket'));
  expect(first).toMatch(new RegExp(`^h_bucket\\{le="1"\\} 2 # \\{trace_id="${traceId}",span_id="${spanId}"\\} 0\\.75 \\d{10}(\\.\\d+)?$`));
  expect(second).toBe('h_bucket{le="2"} 3');
  expect((await readMetrics([registry], TEXT)).body).not.toContain(traceId);
});
