/** Reads a source of supergraphs again and again: at an interval while it works, with exponential backoff and jitter while it fails. */
import type { Log } from '@trestle/log';
import { backoffMs } from '@trestle/service/process/backoff';
import type { ReadResult, SourceMetrics } from './source-metrics.ts';
import { MAX_LOADS, isPassing } from './passing-failure.ts';
import { SourceError, type SupergraphSource } from './source.ts';

/** The longest delay after failures, unless the interval is longer. */
const MAX_BACKOFF_MS = 60_000;

export interface PollOptions {
  readonly source: SupergraphSource;
  readonly intervalMs: number;
  /** The supergraph that is served when the polling begins. */
  readonly served: string;
  /** What the first reading of the source has delivered and could not be served, if anything. */
  readonly refused: string | undefined;
  /** What the first reading of the source has delivered and could not be loaded for a reason that may pass. Default: nothing. */
  readonly pending?: string | undefined;
  /** Serves a supergraph from now on. Rejects, and changes nothing, for an invalid one. */
  readonly load: (sdl: string) => Promise<void>;
  /** Keeps a supergraph that was loaded, for the next start. Never rejects. */
  readonly keep: (sdl: string) => Promise<void>;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  readonly metrics: SourceMetrics;
  /** Default: `Math.random`. */
  readonly random?: () => number;
  /** Calls back after a delay, and returns a function that prevents it. Default: `setTimeout`. */
  readonly schedule?: (callback: () => void, delayMs: number) => () => void;
}

export interface Polling {
  /** Ends the polling, and the request in flight. */
  stop(): void;
}

/** Begins to poll, one interval from now. What cannot be read or loaded is logged and counted, and what is served stays. */
export function pollSource(options: PollOptions): Polling {
  const poller = new SourcePoller(options);
  poller.scheduleNext(0, undefined);
  return poller;
}

class SourcePoller implements Polling {
  readonly #options: PollOptions;
  readonly #random: () => number;
  readonly #schedule: NonNullable<PollOptions['schedule']>;
  readonly #stopping = new AbortController();
  #served: string;
  #refused: string | undefined;
  #failures = 0;
  /** What could not be loaded for a reason that may pass, and how often in a row. */
  #pending: string | undefined;
  #loadFailures = 0;
  #cancel: () => void = () => undefined;

  constructor(options: PollOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#schedule = options.schedule ?? scheduleByTimer;
    this.#served = options.served;
    this.#refused = options.refused;
    this.#pending = options.pending;
    this.#loadFailures = options.pending === undefined ? 0 : 1;
  }

  stop(): void {
    this.#stopping.abort();
    this.#cancel();
  }

  /** Jitter keeps many gateways from asking at the same moment. */
  scheduleNext(failures: number, minDelayMs = 0): void {
    if (this.#stopping.signal.aborted) return;
    const { intervalMs } = this.#options;
    const delayMs =
      failures === 0
        ? intervalMs * (0.9 + 0.2 * this.#random())
        : backoffMs(failures, { firstMs: intervalMs, maxMs: Math.max(MAX_BACKOFF_MS, intervalMs) }) * (0.5 + 0.5 * this.#random());
    this.#cancel = this.#schedule(() => void this.#poll(), Math.max(delayMs, minDelayMs));
  }

  async #poll(): Promise<void> {
    const { source, log, metrics } = this.#options;
    try {
      const { sdl = this.#pending, place = source.place, minDelayMs } = await source.read(this.#stopping.signal);
      if (this.#failures > 0) log.info(`${place} responds again`);
      this.#failures = 0;
      const result = sdl === undefined ? this.#stay() : await this.#take(sdl);
      metrics.count(result);
      this.scheduleNext(this.#loadFailures, minDelayMs);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      metrics.count('failed');
      metrics.setCurrent(false);
      log.warn('the supergraph cannot be read from its source; still serving the last one', { error });
      this.scheduleNext(++this.#failures, error instanceof SourceError ? error.minDelayMs : undefined);
    }
  }

  #forgetPending(): void {
    [this.#pending, this.#loadFailures] = [undefined, 0];
  }

  #stay(): ReadResult {
    this.#options.metrics.setCurrent(this.#refused === undefined);
    return 'unchanged';
  }

  async #take(sdl: string): Promise<ReadResult> {
    const { load, keep, log, metrics } = this.#options;
    if (sdl !== this.#pending) this.#forgetPending();
    // A source without ETag delivers the same text each time.
    if (sdl === this.#refused) return this.#stay();
    if (sdl === this.#served) {
      this.#forgetPending();
      this.#refused = undefined;
      return this.#stay();
    }
    try {
      await load(sdl);
    } catch (error) {
      metrics.setCurrent(false);
      if (isPassing(error) && ++this.#loadFailures < MAX_LOADS) {
        this.#pending = sdl;
        log.warn('a new supergraph cannot be loaded now, and will be tried again; still serving the old one', { error });
        return 'failed';
      }
      this.#forgetPending();
      this.#refused = sdl;
      log.error('refused a new supergraph; still serving the old one', { error });
      return 'refused';
    }
    this.#forgetPending();
    [this.#served, this.#refused] = [sdl, undefined];
    metrics.setCurrent(true);
    await keep(sdl);
    return 'new';
  }
}

function scheduleByTimer(callback: () => void, delayMs: number): () => void {
  const timer = setTimeout(callback, delayMs);
  return () => {
    clearTimeout(timer);
  };
}
