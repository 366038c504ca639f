import { describe, expect, it } from '@jest/globals';
import { type TopicEvent, createDispatcher } from './dispatcher.ts';
import { selectEvents } from '../outbox/event-selection.ts';
import { QUEUE_LIMIT, SourceStream } from './source-stream.ts';
import { createTestEvent } from './test-event.ts';

/** A history in memory: `write` adds an event, and `dispatch` delivers what was added, as `events.ts` does. */
function createHistory(kept = 0) {
  const events: TopicEvent[] = [];
  const dispatcher = createDispatcher();
  let last = kept;
  const write = (topic = 'made'): TopicEvent => {
    const event = createTestEvent({ position: kept + events.length + 1, topic });
    events.push(event);
    return event;
  };
  const catchUp = () => {
    for (const event of events.filter(({ position }) => position > last)) {
      dispatcher.dispatch(event, event);
      last = event.position;
    }
    return Promise.resolve();
  };
  const open = (after?: number, { progressMs, id }: { progressMs?: number; id?: string } = {}) =>
    new SourceStream({
      ...(progressMs !== undefined && { progressMs }),
      after: after === undefined ? undefined : { position: after, id },
      findId: (wanted) => Promise.resolve(events.find(({ position }) => position === wanted)?.id),
      readHistory: (position, limit) =>
        Promise.resolve({
          events: events.filter((event) => event.position > position).slice(0, limit),
          oldest: kept + 1,
          settled: kept + events.length,
          newest: kept + events.length,
        }),
      loadRows: (found) => Promise.resolve(new Map(found.map((event) => [event, event]))),
      catchUp,
      position: () => last,
      subscribe: (subscriber) => dispatcher.subscribe(selectEvents('made'), subscriber),
    });
  return { write, dispatch: () => void catchUp(), open, dispatcher };
}

async function take(stream: Pick<SourceStream, 'next'>, count: number): Promise<number[]> {
  const positions: number[] = [];
  while (positions.length < count) positions.push((await stream.next())?.position ?? NaN);
  return positions;
}
const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, i) => first + i);

describe('a source stream', () => {
  it('starts with the next event when there is no position', async () => {
    const { write, dispatch, open } = createHistory();
    write();
    const stream = open();
    expect(await stream.start()).toBe(1);
    write();
    dispatch();
    expect(await take(stream, 1)).toEqual([2]);
  });

  it('delivers every event behind a position once: older ones page by page, those written meanwhile, and new ones', async () => {
    const { write, dispatch, open } = createHistory();
    for (let i = 0; i < 450; i++) write();
    const stream = open(10);
    expect(await stream.start()).toBe(10);
    const positions: number[] = [];
    for (let i = 0; i < 800; i++) {
      positions.push(...(await take(stream, 1)));
      if (i % 2 === 0) write();
      if (i % 3 === 0) dispatch();
    }
    expect(positions).toEqual(upTo(810, 11));
  });

  it('returns its position after a while without an event, counting events of other topics', async () => {
    const { write, dispatch, open } = createHistory();
    const stream = open(undefined, { progressMs: 5 });
    await stream.start();
    expect(await stream.next()).toEqual({ position: 0 });
    write('other');
    write('other');
    dispatch();
    expect(await stream.next()).toEqual({ position: 2 });
    write();
    dispatch();
    expect(await stream.next()).toMatchObject({ position: 3, row: { subject: 'a' } });
    expect(await stream.next()).toEqual({ position: 3 });
    stream.stop();
    expect(await stream.next()).toBeUndefined();
  });

  it('throws GONE for a position whose next events were deleted, and for one in the future', async () => {
    const { write, open } = createHistory(5);
    write();
    await expect(open(4).start()).rejects.toMatchObject({ code: 'GONE' });
    await expect(open(7).start()).rejects.toMatchObject({ code: 'GONE' });
    const stream = open(5);
    expect(await stream.start()).toBe(5);
    expect(await take(stream, 1)).toEqual([6]);
  });

  it('throws GONE for a position of another history, unless its event was removed', async () => {
    const { write, open } = createHistory(5);
    const [sixth] = [write(), write()];
    const other = `evt_${'z'.repeat(26)}`;
    await expect(open(6, { id: other }).start()).rejects.toMatchObject({ code: 'GONE' });
    for (const stream of [open(6, { id: sixth.id }), open(5, { id: other })]) {
      const started = await stream.start();
      expect(await take(stream, 1)).toEqual([started + 1]);
    }
  });

  it('formats a position with the id of its event, and the one it began behind as it was given', async () => {
    const { write, open } = createHistory(5);
    const { id } = write();
    const live = open();
    await live.start();
    expect(await live.format(6)).toBe(`6.${id}`);
    expect(await live.format(5)).toBe('5');
    expect(await open(6).format(6)).toBe('6');
  });

  it('ends with SERVICE_UNAVAILABLE when the subscriber is too slow, and unsubscribes', async () => {
    const { write, dispatch, open, dispatcher } = createHistory();
    const stream = open();
    await stream.start();
    for (let i = 0; i <= QUEUE_LIMIT; i++) write();
    dispatch();
    await expect(stream.next()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(dispatcher.isEmpty()).toBe(true);
  });

  it('ends at once when it is stopped, also while it waits or starts', async () => {
    const { open, dispatcher } = createHistory();
    const stream = open();
    await stream.start();
    const next = stream.next();
    stream.stop();
    expect(await next).toBeUndefined();
    expect(dispatcher.isEmpty()).toBe(true);
    const early = open();
    const started = early.start();
    early.stop();
    await started;
    expect(dispatcher.isEmpty()).toBe(true);
  });
});
