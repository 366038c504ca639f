/**
 * Sends what is due, beside requests. Several processes work on the same queue; each claims deliveries for the time of a lease. At most
 * IN_FLIGHT requests are open, and PER_WEBHOOK for each webhook, so that a slow endpoint occupies nobody else's place. Endpoints that fail have
 * places of their own, so that many that do not answer at all delay none that does.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { isSerializationFailure } from '@trestle/chassis/database/database-faults';
import type { Log } from '@trestle/log';
import type { WebhookSecrets } from '../webhook/secrets.ts';
import { toOutcome } from './rules.ts';
import { ATTEMPT_MS, type Sender } from './send.ts';
import type { ClaimedDelivery } from './claim.ts';
import type { DeliveryStore } from './store.ts';

const IN_FLIGHT = 256;
const FAILING_IN_FLIGHT = 32;
const PER_WEBHOOK = 8;
/** At most this many of one webhook are claimed at once; one with more free places than that in use waits. */
const PER_CLAIM = PER_WEBHOOK / 2;
/** Longer than an attempt and the write of its result. */
const LEASE_MS = ATTEMPT_MS + 20_000;
/** Retries become due, and other processes append events, without a word to this one. */
const POLL_MS = 1000;
const FAILURE_MS = 1000;
/** How long a stop waits for requests in flight. */
const DRAIN_MS = 5000;

/** What the worker works with. */
export interface WorkerOptions {
  readonly deliveries: Pick<DeliveryStore, 'claim' | 'complete' | 'release'>;
  readonly sender: Sender;
  readonly secrets: Pick<WebhookSecrets, 'decrypt'>;
  readonly retrySeconds: readonly number[];
  readonly disableAfterHours: number;
  readonly log: Log;
}

/** Sends deliveries until it is stopped. */
export class DeliveryWorker {
  readonly #options: WorkerOptions;
  readonly #stopping = new AbortController();
  /** Requests in flight by webhook. */
  readonly #busy = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  #failing = 0;
  #loop: Promise<void> | undefined;
  #isStopped = false;
  #isWoken = false;
  #wake: () => void = () => undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  /** Begins to work. */
  start(): void {
    this.#loop ??= this.#run();
  }

  /** Looks for due deliveries now. */
  wake(): void {
    this.#isWoken = true;
    this.#wake();
  }

  /** Claims nothing more, and waits for requests in flight; those that do not end in time are given back. */
  async stop(): Promise<void> {
    const timer = setTimeout(() => {
      this.#stopping.abort();
    }, DRAIN_MS);
    this.#isStopped = true;
    this.wake();
    await this.#loop;
    await Promise.all(this.#running);
    clearTimeout(timer);
    await this.#options.sender.close();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false;
      const healthy = await this.#claim(false, IN_FLIGHT - (this.#running.size - this.#failing));
      for (const delivery of healthy) this.#begin(delivery, false);
      const failing = await this.#claim(true, FAILING_IN_FLIGHT - this.#failing);
      for (const delivery of failing) this.#begin(delivery, true);
      if (healthy.length + failing.length === 0 && !(this.#isWoken as boolean) && !(this.#isStopped as boolean)) await this.#sleep();
    }
  }

  /** Claims what there is room for. A database that fails is asked again later. */
  async #claim(isFailing: boolean, limit: number): Promise<ClaimedDelivery[]> {
    if (limit <= 0) return [];
    const most = isFailing ? 0 : PER_WEBHOOK - PER_CLAIM;
    const busy = [...this.#busy].filter(([, count]) => count > most).map(([id]) => id);
    try {
      return await this.#options.deliveries.claim({ busy, perWebhook: isFailing ? 1 : PER_CLAIM, limit, leaseMs: LEASE_MS, isFailing });
    } catch (error) {
      this.#options.log.error('deliveries cannot be claimed', { error });
      await delay(FAILURE_MS);
      return [];
    }
  }

  #begin(delivery: ClaimedDelivery, isFailing: boolean): void {
    if (isFailing) this.#failing++;
    const { webhookId } = delivery;
    this.#busy.set(webhookId, (this.#busy.get(webhookId) ?? 0) + 1);
    const running = this.#deliver(delivery)
      .catch((error: unknown) => {
        // The lease ends, and the delivery is sent again: its receiver knows it by its id.
        this.#options.log.error('the result of a delivery could not be written', { error });
      })
      .finally(() => {
        const count = (this.#busy.get(webhookId) ?? 1) - 1;
        if (count > 0) this.#busy.set(webhookId, count);
        else this.#busy.delete(webhookId);
        if (isFailing) this.#failing--;
        this.#running.delete(running);
        this.wake();
      });
    this.#running.add(running);
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const { deliveries, sender, secrets, retrySeconds, disableAfterHours } = this.#options;
    const { webhookId, secret, previousSecret, attempts } = delivery;
    const signing = [secret, ...(previousSecret ? [previousSecret] : [])].map((encrypted) => secrets.decrypt(encrypted, webhookId));
    const attempt = await sender.send(delivery, signing, this.#stopping.signal);
    // A request that this process has cut off says nothing of the endpoint.
    if (attempt.status === null && this.#stopping.signal.aborted) return deliveries.release(delivery);
    const response = { status: attempt.status, headers: attempt.responseHeaders, error: attempt.error };
    const outcome = toOutcome(response, { attempts, retrySeconds, random: Math.random() });
    const result = { attempt, outcome, disableAfterHours };
    await deliveries.complete(delivery, result).catch((error: unknown) => {
      // A result that was rolled back because of a concurrent transaction would be lost, and the event sent again.
      if (!isSerializationFailure(error)) throw error;
      return deliveries.complete(delivery, result);
    });
  }

  #sleep(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
