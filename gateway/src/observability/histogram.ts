/** A histogram for Prometheus that costs next to nothing to feed: prom-client's looks its labels up anew at every observation. */
import type { Metric, Registry } from 'prom-client';

export interface HistogramOptions<Label extends string> {
  readonly registry: Registry;
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
  /** Upper bounds in ascending order, in seconds. */
  readonly buckets?: readonly number[];
}

export interface Series {
  observe(seconds: number): void;
}

/** As prom-client has them. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Gives what opens a series; whoever observes often keeps it. */
export function createHistogram<Label extends string>(
  options: HistogramOptions<Label>,
): (labels: Readonly<Record<Label, string>>) => Series {
  const { registry, name, help, buckets = BUCKETS } = options;
  const all = new Map<string, Tally>();
  const get = () =>
    Promise.resolve({ name, help, type: 'histogram', aggregator: 'sum', values: [...all.values()].flatMap((each) => each.toValues(name)) });
  // All that a registry asks of a metric.
  registry.registerMetric({ name, get } as unknown as Metric);
  return (labels) => {
    const key = options.labelNames.map((label) => labels[label]).join('\n');
    const known = all.get(key) ?? new Tally(labels, buckets);
    all.set(key, known);
    return known;
  };
}

class Tally implements Series {
  readonly #labels: Readonly<Record<string, string>>;
  readonly #buckets: readonly number[];
  /** One more than there are buckets: what is above the last. */
  readonly #counts: Float64Array;
  #sum = 0;

  constructor(labels: Readonly<Record<string, string>>, buckets: readonly number[]) {
    this.#labels = labels;
    this.#buckets = buckets;
    this.#counts = new Float64Array(buckets.length + 1);
  }

  observe(seconds: number): void {
    const buckets = this.#buckets;
    let at = 0;
    while (at < buckets.length && seconds > (buckets[at] as number)) at++;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += seconds;
  }

  toValues(name: string): object[] {
    let count = 0;
    const bounds = [...this.#buckets, '+Inf'];
    const values: object[] = bounds.map((le, at) => {
      count += this.#counts[at] as number;
      return { metricName: `${name}_bucket`, labels: { ...this.#labels, le }, value: count };
    });
    values.push({ metricName: `${name}_sum`, labels: this.#labels, value: this.#sum });
    values.push({ metricName: `${name}_count`, labels: this.#labels, value: count });
    return values;
  }
}
