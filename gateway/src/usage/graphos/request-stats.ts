/** What GraphOS has of the requests of one operation by one version of a client. No I/O. */
import type { IQueryLatencyStats } from '@apollo/usage-reporting-protobuf';
import type { RequestEnd } from '../open-request.ts';
import type { RowCounts } from '../usage-log.ts';
import { ErrorTree } from './error-tree.ts';
import { LatencyHistogram } from './latency-histogram.ts';

/** What the counts of the first request take in memory: those of GraphOS are more than others. */
const FIRST_BYTES = 600;

export class RequestStats implements RowCounts {
  requests = 0;
  /** About how much memory it takes beside its fixed part. */
  bytes = 0;
  #withErrors = 0;
  #cacheHits = 0;
  #persistedHits = 0;
  #persistedMisses = 0;
  readonly #latencies = new LatencyHistogram();
  /** Of results that the response cache had. */
  readonly #cachedLatencies = new LatencyHistogram();
  readonly #errors = new ErrorTree();

  add({ ms, isError, isCached, errors, persisted }: RequestEnd, isFull: boolean): number | undefined {
    const grown = (isCached ? this.#cachedLatencies : this.#latencies).add(ms, isFull);
    if (grown === undefined) return undefined;
    let added = this.requests === 0 ? grown + FIRST_BYTES : grown;
    this.requests++;
    if (isCached) this.#cacheHits++;
    if (persisted === 'hit') this.#persistedHits++;
    if (persisted === 'registered') this.#persistedMisses++;
    if (isError) {
      this.#withErrors++;
      added += this.#errors.add(errors, isFull);
    }
    this.bytes += added;
    return added;
  }

  /** Adds the counts of another one. */
  merge(other: RequestStats): void {
    this.requests += other.requests;
    this.bytes += other.bytes;
    this.#withErrors += other.#withErrors;
    this.#cacheHits += other.#cacheHits;
    this.#persistedHits += other.#persistedHits;
    this.#persistedMisses += other.#persistedMisses;
    this.#latencies.merge(other.#latencies);
    this.#cachedLatencies.merge(other.#cachedLatencies);
    this.#errors.merge(other.#errors);
  }

  /** Returns the counts as a report has them. No request has the times of its fields. */
  toStats(): IQueryLatencyStats {
    return {
      requestCount: this.requests,
      requestsWithoutFieldInstrumentation: this.requests,
      latencyCount: this.#latencies.toArray(),
      cacheHits: this.#cacheHits,
      cacheLatencyCount: this.#cachedLatencies.toArray(),
      persistedQueryHits: this.#persistedHits,
      persistedQueryMisses: this.#persistedMisses,
      requestsWithErrorsCount: this.#withErrors,
      rootErrorStats: this.#errors.toStats(),
    };
  }
}
