import { describe, expect, it } from '@jest/globals';
import { type Receiver, createEventHub } from './event-hub.ts';
import type { StoredEvent } from './event-log.ts';
import { type EventStream, QUEUE_LIMIT, createEventStream } from './event-stream.ts';
import { listenTo } from './listening.ts';

/** A history in memory that is told live, as `events.ts` does, when `tell` is called; `write` only writes. */
function createWorld(kept = 0) {
  const events: StoredEvent[] = [];
  const hub = createEventHub();
  let last = kept;
  const write = (topic = 'made'): StoredEvent => {
    const event = { position: kept + events.length + 1, topic, entityId: 'a', data: {} };
    events.push(event);
    return event;
  };
  const catchUp = () => {
    for (const event of events.filter(({ position }) => position > last)) {
      hub.handOut(event, event);
      last = event.position;
    }
    return Promise.resolve();
  };
  const open = (after?: number, quietMs?: number) =>
    createEventStream({
      ...(quietMs !== undefined && { quietMs }),
      listening: listenTo('made'),
      after,
      history: (position, limit) =>
        Promise.resolve({
          events: events.filter((event) => event.position > position).slice(0, limit),
          oldest: kept + 1,
          newest: kept + events.length,
        }),
      loadRows: (found) => Promise.resolve(new Map(found.map((event) => [event, event]))),
      catchUp,
      position: () => last,
      attach: (receiver: Receiver) => hub.attach(listenTo('made'), receiver),
    });
  return { write, tell: () => void catchUp(), open, hub };
}

async function take(stream: Pick<EventStream, 'next'>, count: number): Promise<number[]> {
  const positions: number[] = [];
  while (positions.length < count) positions.push((await stream.next())?.position ?? NaN);
  return positions;
}
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('a stream', () => {
  it('begins now without a position', async () => {
    const { write, tell, open } = createWorld();
    write();
    const stream = open();
    expect(await stream.start()).toBe(1);
    write();
    tell();
    expect(await take(stream, 1)).toEqual([2]);
  });

  it('goes on behind a position: all pages from before, what happens while they are read, and what happens then, each once', async () => {
    const { write, tell, open } = createWorld();
    for (let i = 0; i < 450; i++) write();
    const stream = open(10);
    expect(await stream.start()).toBe(10);
    const positions: number[] = [];
    for (let i = 0; i < 800; i++) {
      positions.push(...(await take(stream, 1)));
      if (i % 2 === 0) write();
      if (i % 3 === 0) tell();
    }
    expect(positions).toEqual(upTo(810, 11));
  });

  it('tells how far it is seen when there was nothing for a while, also of what others listen to', async () => {
    const { write, tell, open } = createWorld();
    const stream = open(undefined, 5);
    await stream.start();
    expect(await stream.next()).toEqual({ position: 0 });
    write('other');
    write('other');
    tell();
    expect(await stream.next()).toEqual({ position: 2 });
    write();
    tell();
    expect(await stream.next()).toMatchObject({ position: 3, row: { entityId: 'a' } });
    expect(await stream.next()).toEqual({ position: 3 });
    stream.stop();
    expect(await stream.next()).toBeUndefined();
  });

  it('refuses a position whose followers are forgotten, and one that was never given', async () => {
    const { write, open } = createWorld(5);
    write();
    await expect(open(4).start()).rejects.toMatchObject({ code: 'GONE' });
    await expect(open(7).start()).rejects.toMatchObject({ code: 'GONE' });
    const stream = open(5);
    expect(await stream.start()).toBe(5);
    expect(await take(stream, 1)).toEqual([6]);
  });

  it('ends with a code when its subscriber is too slow, and keeps nothing then', async () => {
    const { write, tell, open, hub } = createWorld();
    const stream = open();
    await stream.start();
    for (let i = 0; i <= QUEUE_LIMIT; i++) write();
    tell();
    await expect(stream.next()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(hub.isEmpty()).toBe(true);
  });

  it('ends at once when it is stopped, also while it waits', async () => {
    const { open, hub } = createWorld();
    const stream = open();
    await stream.start();
    const next = stream.next();
    stream.stop();
    expect(await next).toBeUndefined();
    expect(hub.isEmpty()).toBe(true);
    const early = open();
    const started = early.start();
    early.stop();
    await started;
    expect(hub.isEmpty()).toBe(true);
  });
});

it('the hub finds receivers by topic and value', () => {
  const hub = createEventHub();
  const got: string[] = [];
  const attach = (name: string, topic: string, where = {}) =>
    hub.attach(listenTo(topic, where), { push: ({ position }) => got.push(`${name}${String(position)}`), end: () => got.push(`${name}!`) });
  const detach = attach('all', 'a');
  attach('one', 'a', { x: '1' });
  attach('both', 'a', { x: '1', y: '2' });
  attach('other', 'b', { x: '1' });
  const event = (position: number, topic: string, data: Record<string, unknown>) => ({ position, topic, entityId: '', data });
  hub.handOut(event(1, 'a', { x: '1' }), {});
  hub.handOut(event(2, 'a', { x: '1', y: '2' }), {});
  hub.handOut(event(3, 'a', { x: '2' }), {});
  expect(got).toEqual(['all1', 'one1', 'all2', 'one2', 'both2', 'all3']);
  expect([hub.isWanted(event(4, 'b', {})), hub.isWanted(event(4, 'b', { x: '1' }))]).toEqual([false, true]);
  detach();
  hub.end(new Error());
  expect(got.slice(6)).toEqual(['one!', 'both!', 'other!']);
  expect(hub.isEmpty()).toBe(true);
});
