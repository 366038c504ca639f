/** Reports which operations clients send (ADR 44): records them for an interval, then sends, and again until the destination has it. */
import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToRequests } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { backoffMs } from '@trestle/service/process/backoff';
import type { Registry } from 'prom-client';
import type { RequestUsage } from '../request/operation-usage.ts';
import type { UsedRequest } from './open-request.ts';
import { SourceError } from '../sources/source.ts';
import { ReportQueue } from './report-queue.ts';
import type { UsageDestination, UsageRecords, UsageReport } from './usage-destination.ts';
import { type UsageMetrics, createUsageMetrics } from './usage-metrics.ts';

export interface ReporterOptions {
  readonly destination: UsageDestination;
  readonly intervalMs: number;
  /** The most memory of what is not reported yet. */
  readonly maxBytes: number;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: Registry;
  /** Default: 1 s, doubled up to a minute. */
  readonly retries?: { readonly firstMs: number; readonly maxMs: number };
}

/** A quarter of the memory is for the current interval, the rest for reports that wait. */
const SHARE_OF_RECORDS = 0.25;
const RETRIES = { firstMs: 1000, maxMs: 60_000 };
/** How long a stop waits until the destination has what is left. */
const STOP_MS = 2000;
/** Hashes whose text the destination has; beyond this number all are sent again. */
const MAX_KNOWN = 20_000;

export class UsageReporter {
  readonly #options: ReporterOptions;
  readonly #records: UsageRecords;
  readonly #queue: ReportQueue;
  readonly #metrics: UsageMetrics;
  readonly #known = new Set<string>();
  readonly #stopping = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #startedAt = Date.now();
  #retry: NodeJS.Timeout | undefined;
  #failures = 0;
  #writing: Promise<void> = Promise.resolve();
  #sending: Promise<void> | undefined;

  /** Begins to record. */
  constructor(options: ReporterOptions) {
    const { destination, intervalMs, maxBytes, metrics } = options;
    this.#options = options;
    this.#metrics = createUsageMetrics(metrics, () => this.#records.bytes + this.#queue.bytes);
    this.#records = destination.createRecords({
      maxBytes: maxBytes * SHARE_OF_RECORDS,
      onDrop: () => {
        this.#metrics.count('dropped', 1);
      },
      onFull: () => void this.#flush(),
    });
    this.#queue = new ReportQueue(maxBytes * (1 - SHARE_OF_RECORDS), (report) => {
      this.#forget(report, 'dropped');
    });
    this.#timer = setInterval(() => void this.#flush(), intervalMs).unref();
  }

  /** Begins the record of a request. */
  begin(request: UsedRequest): RequestUsage {
    return this.#records.begin(request);
  }

  /** Sends what is left, for at most 2 s. What the destination does not have then is lost. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
    const limit = setTimeout(() => {
      this.#stopping.abort();
    }, STOP_MS);
    await this.#flush();
    this.#begin();
    await this.#sending;
    clearTimeout(limit);
    clearTimeout(this.#retry);
    for (let left = this.#queue.first; left; left = this.#queue.first) {
      this.#queue.remove(left);
      this.#metrics.count('dropped', left.requests);
    }
  }

  /** Ends the interval: its records become reports, with pauses in which requests go on. */
  #flush(): Promise<void> {
    const startedAt = this.#startedAt;
    this.#startedAt = Date.now();
    const isKnown = (hash: string) => this.#known.has(hash);
    const reports = this.#records.take({ startedAt, isKnown, createId: randomUUID });
    this.#writing = this.#writing.then(async () => {
      for (const report of reports) {
        if (this.#known.size > MAX_KNOWN) this.#known.clear();
        for (const hash of report.texts) this.#known.add(hash);
        this.#queue.add(report);
        await yieldToRequests();
      }
      // While the destination fails, the next attempt waits for its time.
      if (this.#failures === 0) this.#begin();
    });
    return this.#writing;
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  #begin(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    for (let report = this.#queue.first; report && !this.#isStopping(); report = this.#queue.first) {
      try {
        const result = await this.#options.destination.send(report, this.#stopping.signal);
        this.#failures = 0;
        // It may have been dropped meanwhile.
        if (!this.#queue.remove(report)) continue;
        if (result.kind === 'taken') {
          this.#metrics.count('reported', report.requests);
          for (const hash of result.missing) this.#known.delete(hash);
        } else {
          this.#forget(report, 'refused');
          this.#options.log.error(`${this.#options.destination.name} refuses a report of usage`);
        }
      } catch (error) {
        if (!this.#isStopping()) this.#waitForRetry(error);
        return;
      }
    }
  }

  #waitForRetry(error: unknown): void {
    this.#failures++;
    this.#metrics.countFailure();
    const { destination, log } = this.#options;
    if (this.#failures === 1)
      log.warn(`usage cannot be reported to ${destination.name}; it is kept up to a bound. The token needs ${destination.permission}`, {
        error,
      });
    const delayMs = backoffMs(this.#failures, this.#options.retries ?? RETRIES);
    const minDelayMs = error instanceof SourceError ? (error.minDelayMs ?? 0) : 0;
    this.#retry = setTimeout(
      () => {
        this.#begin();
      },
      Math.max(delayMs, minDelayMs),
    ).unref();
  }

  /** The destination does not have the texts of a report that is gone. */
  #forget({ requests, texts }: UsageReport, outcome: 'dropped' | 'refused'): void {
    this.#metrics.count(outcome, requests);
    for (const hash of texts) this.#known.delete(hash);
  }
}
