/** The subscribers of one response stream: each gets every event, can leave at any time, and can be moved to another stream of the same events. */
import type { Subscriber, SubscriptionEvent } from '../request/subscriber.ts';

/** Counts over all streams of a process. */
export interface SubscriberCounts {
  subscribers: number;
  delivered: number;
}

export interface SubscribersOptions {
  readonly counts: SubscriberCounts;
  /** Returns how many events have arrived that are not sent. */
  readonly pending: () => number;
  /** Called when the last subscriber left by itself. */
  readonly onEmpty: () => void;
}

interface Membership {
  /** Those that the subscriber belongs to now. */
  subscribers: Subscribers;
  /** Set when the subscriber finishes: it leaves after this many more events. */
  leaving: { events: number; readonly done: () => void } | undefined;
}

export class Subscribers {
  readonly #options: SubscribersOptions;
  readonly #members = new Map<Subscriber, Membership>();

  constructor(options: SubscribersOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#members.size;
  }

  /** Adds a subscriber and begins its subscription. */
  add(subscriber: Subscriber, operationName: string | undefined): void {
    const membership: Membership = { subscribers: this, leaving: undefined };
    this.#members.set(subscriber, membership);
    this.#options.counts.subscribers++;
    subscriber.begin({
      operationName,
      stop: () => {
        membership.subscribers.#remove(subscriber);
      },
      finish: (done) => {
        membership.subscribers.#finish(subscriber, done);
      },
    });
  }

  /** Sends an event to every subscriber. */
  send(event: SubscriptionEvent): void {
    for (const [subscriber, { leaving }] of this.#members) {
      subscriber.next(event);
      this.#options.counts.delivered++;
      if (leaving && --leaving.events === 0) this.#remove(subscriber);
    }
  }

  /** Moves every subscriber to `other`. Moves none and returns false while one of them is leaving. */
  moveTo(other: Subscribers): boolean {
    for (const { leaving } of this.#members.values()) if (leaving) return false;
    for (const [subscriber, membership] of this.#members) {
      membership.subscribers = other;
      other.#members.set(subscriber, membership);
    }
    this.#members.clear();
    return true;
  }

  /** Removes every subscriber without notifying it, and returns them. */
  release(): Subscriber[] {
    const members = [...this.#members];
    this.#members.clear();
    this.#options.counts.subscribers -= members.length;
    for (const [, { leaving }] of members) leaving?.done();
    return members.map(([subscriber]) => subscriber);
  }

  #finish(subscriber: Subscriber, done: () => void): void {
    const membership = this.#members.get(subscriber);
    const events = this.#options.pending();
    if (membership && events > 0) membership.leaving = { events, done };
    else {
      this.#remove(subscriber);
      done();
    }
  }

  #remove(subscriber: Subscriber): void {
    const membership = this.#members.get(subscriber);
    if (!membership) return;
    this.#members.delete(subscriber);
    this.#options.counts.subscribers--;
    if (this.#members.size === 0) this.#options.onEmpty();
    // Also when it left before its last event.
    membership.leaving?.done();
  }
}
