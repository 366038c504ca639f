/**
 * Compares the requests of a canary with those of the current launch at the same time (ADR 43). A comparison needs a number of requests of each, and the
 * next one begins with none. No I/O.
 */
import { RequestSample } from './request-sample.ts';

export interface CanarySettings {
  /** The header in lower case whose value a client's share follows; undefined when none does. */
  readonly header: string | undefined;
  /** The number of requests of the canary, and of the current launch, that a comparison needs. */
  readonly minRequests: number;
  /** The canary may have so many times the error rate of the current launch. */
  readonly errorFactor: number;
  /** The canary may have so many times the 95th percentile of the current launch. */
  readonly p95Factor: number;
}

/** Smaller differences are left to chance: one request in a hundred, and 20 ms. */
const MIN_ERROR_DIFFERENCE = 0.01;
const MIN_P95_DIFFERENCE_MS = 20;
/** Its first requests find empty caches and new connections. */
const SLOW_COMPARISONS = 2;

/** A request that has ended. */
export interface JudgedRequest {
  readonly isCanary: boolean;
  readonly isError: boolean;
  readonly ms: number;
}

export class CanaryJudge {
  readonly #settings: CanarySettings;
  readonly #current = new RequestSample();
  readonly #canary = new RequestSample();
  #slow = 0;

  constructor(settings: CanarySettings) {
    this.#settings = settings;
  }

  /** Counts a request. Returns in what the canary is worse, when this request completes a comparison that shows it; otherwise undefined. */
  add({ isCanary, isError, ms }: JudgedRequest): string | undefined {
    const [current, canary] = [this.#current, this.#canary];
    (isCanary ? canary : current).add(isError, ms);
    const { minRequests } = this.#settings;
    if (current.count < minRequests || canary.count < minRequests) return undefined;
    const reason = this.#compareErrors() ?? this.#compareTimes();
    current.clear();
    canary.clear();
    return reason;
  }

  #compareErrors(): string | undefined {
    const [before, now] = [this.#current.errorRate, this.#canary.errorRate];
    const isWorse = now > before * this.#settings.errorFactor && now - before > MIN_ERROR_DIFFERENCE;
    return isWorse ? `${toPercent(now)} of ${String(this.#canary.count)} requests failed, and ${toPercent(before)} beside it` : undefined;
  }

  #compareTimes(): string | undefined {
    const [before, now] = [this.#current.p95Ms, this.#canary.p95Ms];
    const isSlow = now > before * this.#settings.p95Factor && now - before > MIN_P95_DIFFERENCE_MS;
    this.#slow = isSlow ? this.#slow + 1 : 0;
    return this.#slow < SLOW_COMPARISONS ? undefined : `95 % of requests took up to ${toMs(now)}, and up to ${toMs(before)} beside it`;
  }
}

function toPercent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function toMs(ms: number): string {
  return `${ms.toFixed(0)} ms`;
}
