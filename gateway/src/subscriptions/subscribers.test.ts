import { describe, expect, it } from '@jest/globals';
import type { Subscriber, Subscription, SubscriptionEvent } from '../request/subscriber.ts';
import { Subscribers } from './subscribers.ts';

const EVENT: SubscriptionEvent = { bytes: Buffer.from('{}'), receivedAt: 0 };

function createStreams() {
  const counts = { subscribers: 0, delivered: 0 };
  const seen = { pending: 0, empty: 0 };
  const open = () => new Subscribers({ counts, pending: () => seen.pending, onEmpty: () => seen.empty++ });
  const join = (subscribers: Subscribers) => {
    const received: SubscriptionEvent[] = [];
    let subscription: Subscription | undefined;
    const subscriber: Subscriber = {
      begin: (given) => {
        subscription = given;
      },
      next: (event) => received.push(event),
      end: () => undefined,
    };
    subscribers.add(subscriber, undefined);
    return { subscriber, received, subscription: subscription as unknown as Subscription };
  };
  return { counts, seen, open, join };
}

describe('Subscribers', () => {
  it('sends a subscriber that finishes the events that had arrived, and no more', () => {
    const { seen, open, join } = createStreams();
    const subscribers = open();
    const [leaving, staying] = [join(subscribers), join(subscribers)];
    seen.pending = 2;
    let done = 0;
    leaving.subscription.finish(() => done++);
    subscribers.send(EVENT);
    expect([done, subscribers.size]).toEqual([0, 2]);
    subscribers.send(EVENT);
    subscribers.send(EVENT);
    expect([done, leaving.received.length, staying.received.length, subscribers.size]).toEqual([1, 2, 3, 1]);
  });

  it('calls back for a subscriber that stops before its last event, and for one that is released', () => {
    const { counts, seen, open, join } = createStreams();
    const subscribers = open();
    const [going, released] = [join(subscribers), join(subscribers)];
    seen.pending = 5;
    const done: string[] = [];
    going.subscription.finish(() => done.push('going'));
    released.subscription.finish(() => done.push('released'));
    going.subscription.stop();
    going.subscription.stop();
    expect(done).toEqual(['going']);
    expect(subscribers.release()).toEqual([released.subscriber]);
    expect([done, counts.subscribers, seen.empty]).toEqual([['going', 'released'], 0, 0]);
  });

  it('moves every subscriber to another stream, unless one is finishing', () => {
    const { counts, seen, open, join } = createStreams();
    const [from, to] = [open(), open()];
    const [one, other] = [join(from), join(to)];
    seen.pending = 1;
    other.subscription.finish(() => undefined);
    expect(to.moveTo(from)).toBe(false);
    expect(from.moveTo(to)).toBe(true);
    expect([from.size, to.size, counts.subscribers, seen.empty]).toEqual([0, 2, 2, 0]);
    to.send(EVENT);
    expect(one.received).toEqual([EVENT]);
    one.subscription.stop();
    expect([to.size, counts.subscribers, seen.empty]).toEqual([0, 0, 1]);
  });
});
