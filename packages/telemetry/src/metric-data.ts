/** Converts what prom-client has counted into the metrics of OpenTelemetry ("Prometheus and OpenMetrics Compatibility"). No I/O. */
import type { Attributes, HrTime } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type HistogramMetricData,
  type MetricData,
} from '@opentelemetry/sdk-metrics';
import {
  ATTR_HTTP_REQUEST_METHOD,
  ATTR_HTTP_RESPONSE_STATUS_CODE,
  ATTR_HTTP_ROUTE,
  METRIC_HTTP_SERVER_REQUEST_DURATION,
} from '@opentelemetry/semantic-conventions';
import { ATTR_GRAPHQL_OPERATION_NAME } from '@opentelemetry/semantic-conventions/incubating';

/** A metric as `Registry.getMetricsAsJSON` gives it. */
export interface PrometheusMetric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly PrometheusValue[];
}

interface PrometheusValue {
  readonly metricName?: string;
  readonly value: number;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
}

/** When counting began, and now. */
export interface Interval {
  readonly startTime: HrTime;
  readonly endTime: HrTime;
}

/** Metrics that OpenTelemetry names; the others keep their names. */
const NAMES: Readonly<Record<string, string>> = {
  http_server_request_duration_seconds: METRIC_HTTP_SERVER_REQUEST_DURATION,
  trestle_rest_request_duration_seconds: METRIC_HTTP_SERVER_REQUEST_DURATION,
};

/** The attributes that labels become, by the metrics that have them. */
const HTTP_LABELS: Readonly<Record<string, string>> = {
  method: ATTR_HTTP_REQUEST_METHOD,
  route: ATTR_HTTP_ROUTE,
  status: ATTR_HTTP_RESPONSE_STATUS_CODE,
  http_request_method: ATTR_HTTP_REQUEST_METHOD,
  http_route: ATTR_HTTP_ROUTE,
  http_response_status_code: ATTR_HTTP_RESPONSE_STATUS_CODE,
};
const LABELS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  http_server_request_duration_seconds: HTTP_LABELS,
  trestle_rest_request_duration_seconds: HTTP_LABELS,
  trestle_graphql_request_duration_seconds: { operation: ATTR_GRAPHQL_OPERATION_NAME, status: ATTR_HTTP_RESPONSE_STATUS_CODE },
};

/** The unit of a metric, by the end of its name. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/_seconds(_total)?$/, 's'],
  [/_bytes(_total)?$/, 'By'],
];

/** Returns a metric of OpenTelemetry; undefined for a kind that it does not have. Counters and histograms count from the start of the process. */
export function toMetricData(metric: PrometheusMetric, interval: Interval): MetricData | undefined {
  const { name, help: description, type } = metric;
  const unit = UNITS.find(([pattern]) => pattern.test(name))?.[1] ?? '';
  const described = { descriptor: { name: NAMES[name] ?? name, description, unit, valueType: 1 } };
  const toAttributes = (labels: PrometheusValue['labels']) => toNamed(labels, LABELS[name]);
  if (type === 'histogram') return { ...described, ...toHistogram(metric, { ...interval, toAttributes }) };
  const dataPoints = metric.values.map(({ labels, value }): DataPoint<number> => ({
    ...interval,
    attributes: toAttributes(labels),
    value,
  }));
  const points = { ...described, aggregationTemporality: AggregationTemporality.CUMULATIVE, dataPoints };
  if (type === 'gauge') return { ...points, dataPointType: DataPointType.GAUGE };
  return type === 'counter' ? { ...points, dataPointType: DataPointType.SUM, isMonotonic: true } : undefined;
}

interface HistogramParts extends Interval {
  readonly toAttributes: (labels: PrometheusValue['labels']) => Attributes;
}

interface Series {
  readonly attributes: Attributes;
  /** Upper bounds in ascending order; the last one is infinite. */
  readonly bounds: number[];
  /** How many values are at most as large as the bound. */
  readonly totals: number[];
  sum: number;
  count: number;
}

function toHistogram(
  { values }: PrometheusMetric,
  { startTime, endTime, toAttributes }: HistogramParts,
): Omit<HistogramMetricData, 'descriptor'> {
  const byLabels = new Map<string, Series>();
  for (const { metricName = '', labels: all, value } of values) {
    const { le, ...labels } = all;
    const key = JSON.stringify(labels);
    const series = byLabels.get(key) ?? { attributes: toAttributes(labels), bounds: [], totals: [], sum: 0, count: 0 };
    byLabels.set(key, series);
    if (metricName.endsWith('_sum')) series.sum = value;
    else if (metricName.endsWith('_count')) series.count = value;
    else {
      series.bounds.push(le === '+Inf' ? Infinity : Number(le));
      series.totals.push(value);
    }
  }
  const dataPoints = [...byLabels.values()].map(({ attributes, bounds, totals, sum, count }): DataPoint<Histogram> => {
    const counts = totals.map((total, i) => total - (totals[i - 1] ?? 0));
    return { startTime, endTime, attributes, value: { buckets: { boundaries: bounds.filter(Number.isFinite), counts }, sum, count } };
  });
  return { dataPointType: DataPointType.HISTOGRAM, aggregationTemporality: AggregationTemporality.CUMULATIVE, dataPoints };
}

/** The status is a number in OpenTelemetry. A label without a value is left out. */
function toNamed(labels: PrometheusValue['labels'], names: Readonly<Record<string, string>> = {}): Attributes {
  const attributes: Attributes = {};
  for (const [label, value] of Object.entries(labels)) {
    const name = names[label] ?? label;
    if (value !== undefined && value !== '') attributes[name] = name === ATTR_HTTP_RESPONSE_STATUS_CODE ? Number(value) : value;
  }
  return attributes;
}
