/** Finds places in a stream of events by the positions of the outbox, which grow with the sequence of messages. */
import { fail } from '@trestle/schema/errors';
import { type Range, type StreamOfSource, findLatest } from './latest-event.ts';
import { type DomainEvent, type FeedPosition, parseFeedPosition } from '../feeds/domain-event.ts';
import type { OpenBus } from './nats-bus.ts';

/** The end of a stream. */
export interface End {
  /** The sequence of the last message. */
  readonly sequence: number;
  /** The last event. Undefined when the stream has none. */
  readonly event: DomainEvent | undefined;
}

/** Reads the end of a stream. */
export async function readEnd(open: OpenBus, of: StreamOfSource): Promise<End> {
  const { state } = await open.jsm.streams.info(of.stream);
  const { last_seq: last, first_seq: first } = state;
  return { sequence: last, event: state.messages === 0 ? undefined : (await findLatest(open, of, { first, last }))?.event };
}

/**
 * Resolves with the sequence of the first message behind a position, by binary search; with undefined while the stream does not reach that far.
 * Throws GONE when messages behind it have been removed, or when it is of another history: a database was restored, and counts again.
 */
export async function findSequence(open: OpenBus, of: StreamOfSource, after: string | undefined): Promise<number | undefined> {
  const { state } = await open.jsm.streams.info(of.stream);
  const wanted = after === undefined ? undefined : parseFeedPosition(after);
  if (after !== undefined && !wanted) throw fail('VALIDATION_ERROR', '`after` must be the position of an event.');
  if (state.messages === 0) return wanted ? undefined : state.last_seq + 1;
  if (!wanted) return state.first_seq;
  let [low, high] = [state.first_seq, state.last_seq];
  const newest = await readLatestPosition(open, of, { first: low, last: high });
  if (newest && newest.position < wanted.position && isLater(newest, wanted)) throw gone(after);
  if (!newest || newest.position < wanted.position) return undefined;
  high = newest.sequence;
  // All events before `low` are before the position; the one at `high` is not.
  while (low < high) {
    const latest = await readLatestPosition(open, of, { first: low, last: Math.floor((low + high) / 2) });
    if (latest && latest.position >= wanted.position) high = latest.sequence;
    else low = Math.floor((low + high) / 2) + 1;
  }
  const found = await readLatestPosition(open, of, { first: high, last: high });
  if (found?.id !== wanted.id) throw gone(after);
  return high + 1;
}

/**
 * Returns whether an event was written after another one: ids begin with the time. One that has a lower position all the same is of another
 * history: a stream that has not caught up ends with an earlier event.
 */
function isLater(event: FeedPosition, than: FeedPosition): boolean {
  return event.id > than.id;
}

function gone(after: string | undefined): Error {
  return fail('GONE', `Position ${String(after)} is no longer available. Read without a position.`);
}

interface Place extends FeedPosition {
  readonly sequence: number;
}

async function readLatestPosition(open: OpenBus, of: StreamOfSource, range: Range): Promise<Place | undefined> {
  const latest = await findLatest(open, of, range);
  if (!latest) return undefined;
  const parsed = parseFeedPosition(latest.event.position);
  if (!parsed) throw fail('UPSTREAM_ERROR', `Event ${latest.event.id} of ${of.stream} has no position.`);
  return { ...parsed, sequence: latest.sequence };
}
