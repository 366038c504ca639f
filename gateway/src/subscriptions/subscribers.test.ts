import { describe, expect, it } from '@jest/globals';
import type { LiveEvent, Listener, Subscription } from '../engines/engine.ts';
import { Audience } from './subscribers.ts';

const EVENT: LiveEvent = { bytes: Buffer.from('{}'), receivedAt: 0 };

function createWorld() {
  const counts = { listeners: 0, delivered: 0 };
  const seen = { pending: 0, empty: 0 };
  const open = () => new Audience({ counts, pending: () => seen.pending, onEmpty: () => seen.empty++ });
  const join = (audience: Audience) => {
    const told: LiveEvent[] = [];
    let subscription: Subscription | undefined;
    const listener: Listener = {
      begin: (given) => {
        subscription = given;
      },
      next: (event) => told.push(event),
      end: () => undefined,
    };
    audience.add(listener, undefined);
    return { listener, told, subscription: subscription as unknown as Subscription };
  };
  return { counts, seen, open, join };
}

describe('an audience', () => {
  it('lets whoever finishes hear what had come by then, and no more', () => {
    const { seen, open, join } = createWorld();
    const audience = open();
    const [leaving, staying] = [join(audience), join(audience)];
    seen.pending = 2;
    let done = 0;
    leaving.subscription.finish(() => done++);
    audience.tell(EVENT);
    expect([done, audience.size]).toEqual([0, 2]);
    audience.tell(EVENT);
    audience.tell(EVENT);
    expect([done, leaving.told.length, staying.told.length, audience.size]).toEqual([1, 2, 3, 1]);
  });

  it('calls back for one who goes before all is told, and for one who is let go of', () => {
    const { counts, seen, open, join } = createWorld();
    const audience = open();
    const [going, released] = [join(audience), join(audience)];
    seen.pending = 5;
    const done: string[] = [];
    going.subscription.finish(() => done.push('going'));
    released.subscription.finish(() => done.push('released'));
    going.subscription.stop();
    going.subscription.stop();
    expect(done).toEqual(['going']);
    expect(audience.release()).toEqual([released.listener]);
    expect([done, counts.listeners, seen.empty]).toEqual([['going', 'released'], 0, 0]);
  });

  it('moves to another one as a whole, where each can still go, unless somebody is about to leave', () => {
    const { counts, seen, open, join } = createWorld();
    const [from, to] = [open(), open()];
    const [one, other] = [join(from), join(to)];
    seen.pending = 1;
    other.subscription.finish(() => undefined);
    expect(to.moveTo(from)).toBe(false);
    expect(from.moveTo(to)).toBe(true);
    expect([from.size, to.size, counts.listeners, seen.empty]).toEqual([0, 2, 2, 0]);
    to.tell(EVENT);
    expect(one.told).toEqual([EVENT]);
    one.subscription.stop();
    expect([to.size, counts.listeners, seen.empty]).toEqual([0, 0, 1]);
  });
});
