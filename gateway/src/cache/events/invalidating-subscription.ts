/** One subscription of the operator, whose events invalidate what they have changed. */
import { type Log, ReportedError } from '@trestle/log';
import { UNCOUNTED } from '@trestle/limits/quota';
import { type BackoffLimits, backoffMs } from '@trestle/service/process/backoff';
import { createContext } from '../../request/context.ts';
import { NO_REPORTS, type OperationRequest, type OperationResult } from '../../request/operation.ts';
import type { StreamEnd, Subscriber, Subscription, SubscriptionEvent } from '../../request/subscriber.ts';
import type { EventMetrics } from '../../observability/cache-metrics.ts';
import { ALL_TAG } from '../received-tags.ts';
import type { ResponseCache } from '../response-cache.ts';
import { toChangedTags } from './changed-tags.ts';
import type { InvalidatingSubscriptions } from './read-subscriptions.ts';

export interface InvalidatingOptions {
  readonly subscriptions: InvalidatingSubscriptions;
  /** The value of `Authorization` for the subgraphs of the subscriptions. */
  readonly authorization: string | undefined;
  readonly engine: { execute(request: OperationRequest, done: (result: OperationResult) => void): void };
  readonly cache: Pick<ResponseCache, 'invalidate'>;
  readonly log: Log;
  readonly metrics: EventMetrics;
  /** The pauses before a subscription that has ended is executed again; default: from 0.5 to 30 s. */
  readonly retry?: BackoffLimits;
}

const RETRY: BackoffLimits = { firstMs: 500, maxMs: 30_000 };
/** How long a subgraph may take to begin. */
const SUBSCRIBING_MS = 2000;
/** A subscription that ends after this time does not count as failed. */
const STEADY_MS = 60_000;

/** Executes the subscription, and again whenever it ends. When it begins, it invalidates everything, because changes were missed while it was not open. */
export class InvalidatingSubscription {
  readonly #name: string;
  readonly #options: InvalidatingOptions;
  #open: Subscription | undefined;
  #beganAt = performance.now();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(name: string, options: InvalidatingOptions) {
    this.#name = name;
    this.#options = options;
  }

  start(): void {
    const { engine, subscriptions, authorization } = this.#options;
    const context = createContext({
      caller: null,
      client: undefined,
      requestId: `cache-${this.#name}`,
      identity: authorization === undefined ? [] : ['authorization', authorization],
      mutationHeaders: [],
      quota: UNCOUNTED,
      trace: undefined,
      isOfOperator: true,
    });
    const request = { query: subscriptions.query, operationName: this.#name, variables: {}, isReadOnly: false, reports: NO_REPORTS };
    engine.execute({ ...request, context, subscriber: this.#toSubscriber() }, (result) => {
      const { errors } = JSON.parse(result.bytes.toString('utf8', 0, result.length)) as Pick<StreamEnd, 'errors'>;
      result.release?.();
      this.#retry(errors);
    });
  }

  stop(): void {
    this.#isStopped = true;
    this.#open?.stop();
    this.#close();
  }

  #toSubscriber(): Subscriber {
    return {
      begin: (subscription) => {
        this.#begin(subscription);
      },
      next: (event) => {
        this.#invalidate(event);
      },
      end: ({ errors }) => {
        if (performance.now() - this.#beganAt >= STEADY_MS) this.#failures = 0;
        this.#close();
        this.#retry(errors);
      },
    };
  }

  #begin(subscription: Subscription): void {
    const { cache, metrics, log } = this.#options;
    if (this.#isStopped) {
      subscription.stop();
      return;
    }
    this.#open = subscription;
    this.#beganAt = performance.now();
    metrics.countOpen(1);
    log.info('the response cache receives the events of a subscription', { operation: this.#name });
    const invalidateAll = () => {
      cache.invalidate([ALL_TAG], () => undefined);
    };
    invalidateAll();
    // The protocol has no acknowledgement: what changes until the subgraph has begun is no event.
    this.#timer = setTimeout(invalidateAll, SUBSCRIBING_MS).unref();
  }

  #invalidate({ bytes, isPositionOnly }: SubscriptionEvent): void {
    if (this.#isStopped || isPositionOnly) return;
    const { cache, metrics } = this.#options;
    metrics.countEvent(this.#name);
    cache.invalidate(toChangedTags(JSON.parse(bytes.toString())), () => undefined);
  }

  #close(): void {
    clearTimeout(this.#timer);
    if (!this.#open) return;
    this.#open = undefined;
    this.#options.metrics.countOpen(-1);
  }

  #retry(errors: StreamEnd['errors']): void {
    if (this.#isStopped) return;
    const { log, retry = RETRY } = this.#options;
    const [error] = errors;
    const code = error?.extensions?.['code'];
    log.warn('a subscription of the response cache has ended, and is tried again', {
      operation: this.#name,
      ...(typeof code === 'string' && { code }),
      ...(error && { error: new ReportedError(error.message) }),
    });
    this.#failures++;
    this.#timer = setTimeout(
      () => {
        this.start();
      },
      backoffMs(this.#failures, retry),
    ).unref();
  }
}
