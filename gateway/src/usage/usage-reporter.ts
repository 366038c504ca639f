/** Reports to the registry which operations clients send (ADR 44): counts for an interval, then sends, and again until the registry has it. */
import { randomUUID } from 'node:crypto';
import { setImmediate as yieldToRequests } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { backoffMs } from '@trestle/service/backoff';
import type { Registry } from 'prom-client';
import type { RequestUsage } from '../request/operation-usage.ts';
import type { ClientApplication } from '../request/operation.ts';
import { ReportQueue } from './report-queue.ts';
import { type SendReport, type UsageTarget, createSendReport } from './send-report.ts';
import { UsageLog } from './usage-log.ts';
import { type UsageMetrics, createUsageMetrics } from './usage-metrics.ts';
import { type UsageReport, writeReports } from './usage-reports.ts';

export interface ReporterOptions {
  readonly target: UsageTarget;
  readonly intervalMs: number;
  /** The most memory of what is not reported yet. */
  readonly maxBytes: number;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: Registry;
  /** Default: 1 s, doubled up to a minute. */
  readonly retries?: { readonly firstMs: number; readonly maxMs: number };
}

/** A quarter of the memory is for the current interval, the rest for reports that wait. */
const SHARE_OF_LOG = 0.25;
const RETRIES = { firstMs: 1000, maxMs: 60_000 };
/** How long a stop waits until the registry has what is left. */
const STOP_MS = 2000;
/** Hashes whose text the registry has; beyond this number all are sent again. */
const MAX_KNOWN = 20_000;

export class UsageReporter {
  readonly #options: ReporterOptions;
  readonly #send: SendReport;
  readonly #log: UsageLog;
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

  /** Begins to count. */
  constructor(options: ReporterOptions) {
    const { target, intervalMs, maxBytes, metrics } = options;
    this.#options = options;
    this.#send = createSendReport(target);
    this.#metrics = createUsageMetrics(metrics, () => this.#log.bytes + this.#queue.bytes);
    this.#log = new UsageLog(maxBytes * SHARE_OF_LOG, () => {
      this.#metrics.count('dropped', 1);
    });
    this.#queue = new ReportQueue(maxBytes * (1 - SHARE_OF_LOG), (report) => {
      this.#forget(report, 'dropped');
    });
    this.#timer = setInterval(() => void this.#flush(), intervalMs).unref();
  }

  /** Begins the record of a request. */
  begin(client: ClientApplication): RequestUsage {
    return this.#log.begin(client);
  }

  /** Sends what is left, for at most 2 s. What the registry does not have then is lost. */
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

  /** Ends the interval: its rows become reports, with pauses in which requests go on. */
  #flush(): Promise<void> {
    const startedAt = this.#startedAt;
    this.#startedAt = Date.now();
    const rows = this.#log.take();
    this.#writing = this.#writing.then(async () => {
      const isKnown = (hash: string) => this.#known.has(hash);
      for (const report of writeReports(rows, { startedAt, isKnown, createId: randomUUID })) {
        if (this.#known.size > MAX_KNOWN) this.#known.clear();
        for (const hash of report.texts) this.#known.add(hash);
        this.#queue.add(report);
        await yieldToRequests();
      }
      // While the registry fails, the next attempt waits for its time.
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
        const result = await this.#send(report, this.#stopping.signal);
        this.#failures = 0;
        // It may have been dropped meanwhile.
        if (!this.#queue.remove(report)) continue;
        if (result.kind === 'taken') {
          this.#metrics.count('reported', report.requests);
          for (const hash of result.missing) this.#known.delete(hash);
        } else {
          this.#forget(report, 'refused');
          this.#options.log.error('the registry refuses a report of usage');
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
    if (this.#failures === 1)
      this.#options.log.warn('usage cannot be reported; it is kept up to a bound. The token needs the scope REPORT', { error });
    const delayMs = backoffMs(this.#failures, this.#options.retries ?? RETRIES);
    this.#retry = setTimeout(() => {
      this.#begin();
    }, delayMs).unref();
  }

  /** The registry does not have the texts of a report that is gone. */
  #forget({ requests, texts }: UsageReport, outcome: 'dropped' | 'refused'): void {
    this.#metrics.count(outcome, requests);
    for (const hash of texts) this.#known.delete(hash);
  }
}
