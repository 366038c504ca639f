import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Counter, Gauge, Histogram, Registry, Summary } from 'prom-client';
import { type PrometheusMetric, toMetricData } from './metric-data.ts';

const INTERVAL = { startTime: [1, 0] as [number, number], endTime: [2, 0] as [number, number] };
const convert = async (registry: Registry) =>
  ((await registry.getMetricsAsJSON()) as unknown as PrometheusMetric[]).map((metric) => toMetricData(metric, INTERVAL));

it('gives the buckets of a histogram their own counts instead of those of all smaller values', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.double({ min: 0, max: 4, noNaN: true })), async (values) => {
      const registry = new Registry();
      const histogram = new Histogram({ name: 'h', help: 'H.', buckets: [1, 2, 3], registers: [registry] });
      for (const value of values) histogram.observe(value);
      const [metric] = await convert(registry);
      const within = (from: number, to: number) => values.filter((value) => value > from && value <= to).length;
      expect(metric?.dataPoints[0]?.value).toEqual({
        buckets: { boundaries: [1, 2, 3], counts: [within(-1, 1), within(1, 2), within(2, 3), within(3, Infinity)] },
        sum: values.reduce((sum, each) => sum + each, 0),
        count: values.length,
      });
    }),
    { numRuns: 50 },
  );
});

it('names units, and what the HTTP conventions name; a label without a value is left out', async () => {
  const registry = new Registry();
  const labelNames = ['http_request_method', 'http_route', 'http_response_status_code'];
  new Histogram({ name: 'http_server_request_duration_seconds', help: 'H.', labelNames, buckets: [1], registers: [registry] }).observe(
    { http_request_method: 'POST', http_route: '', http_response_status_code: '404' },
    0.5,
  );
  new Counter({ name: 'sent_bytes_total', help: 'Sent.', registers: [registry] }).inc(3);
  new Gauge({ name: 'open', help: 'Open.', labelNames: ['kind'], registers: [registry] }).set({ kind: 'a' }, 2);
  const [duration, sent, open] = await convert(registry);
  expect([duration?.descriptor.name, duration?.descriptor.unit]).toEqual(['http.server.request.duration', 's']);
  expect(duration?.dataPoints[0]?.attributes).toEqual({ 'http.request.method': 'POST', 'http.response.status_code': 404 });
  expect(sent).toMatchObject({ descriptor: { name: 'sent_bytes_total', unit: 'By' }, isMonotonic: true, dataPoints: [{ value: 3 }] });
  expect(open).toMatchObject({
    descriptor: { name: 'open', unit: '' },
    dataPoints: [{ attributes: { kind: 'a' }, value: 2, ...INTERVAL }],
  });
});

it('leaves out summaries, which OpenTelemetry does not count', async () => {
  const registry = new Registry();
  new Summary({ name: 's', help: 'S.', registers: [registry] }).observe(1);
  expect(await convert(registry)).toEqual([undefined]);
});
