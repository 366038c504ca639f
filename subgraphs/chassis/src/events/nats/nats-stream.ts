/** Finds places in a stream of events by the positions of the outbox, which grow with the sequence of messages. */
import { fail } from '@trestle/schema/errors';
import { parseCloudEvent } from './cloud-event.ts';
import { type DomainEvent, type FeedPosition, parseFeedPosition } from '../feeds/domain-event.ts';
import type { OpenBus } from './nats-bus.ts';

interface StreamOfSource {
  readonly stream: string;
  readonly source: string;
}

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
  return { sequence: last, event: state.messages === 0 ? undefined : await findLatest(open, of, { first, last }) };
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
  const latestUpTo = (last: number) => readLatestPosition(open, of, { first: state.first_seq, last });
  const newest = await latestUpTo(high);
  if (newest && newest.position < wanted.position && isLater(newest, wanted)) throw gone(after);
  if (!newest || newest.position < wanted.position) return undefined;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const latest = await latestUpTo(middle);
    if (!latest || latest.position < wanted.position) low = middle + 1;
    else high = middle;
  }
  const found = await latestUpTo(low);
  if (found?.id !== wanted.id) throw gone(after);
  return low + 1;
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

interface Range {
  readonly first: number;
  readonly last: number;
}

async function readLatestPosition(open: OpenBus, of: StreamOfSource, range: Range): Promise<FeedPosition | undefined> {
  const event = await findLatest(open, of, range);
  if (!event) return undefined;
  const parsed = parseFeedPosition(event.position);
  if (!parsed) throw fail('UPSTREAM_ERROR', `Event ${event.id} of ${of.stream} has no position.`);
  return parsed;
}

/** How many messages in a row are passed over: each is a request of its own. */
const MAX_PASSED_OVER = 1000;

/**
 * Finds the last event of a part of the stream. Messages that are not of the source are passed over, and those that operators have removed; throws
 * UPSTREAM_ERROR for {@link MAX_PASSED_OVER} in a row.
 */
async function findLatest({ jsm }: OpenBus, { stream, source }: StreamOfSource, { first, last }: Range): Promise<DomainEvent | undefined> {
  let oldest = first;
  for (let sequence = last; sequence >= oldest; sequence--) {
    if (last - sequence >= MAX_PASSED_OVER)
      throw fail('UPSTREAM_ERROR', `${String(MAX_PASSED_OVER)} messages of ${stream} before ${String(last)} are not of ${source}.`);
    const message = await jsm.streams.getMessage(stream, { seq: sequence });
    const event = message && parseCloudEvent(message.string(), source);
    if (event) return event;
    // Nothing is left to look at when a publisher that begins the stream again has just removed all messages.
    if (!message) oldest = Math.max(oldest, (await jsm.streams.info(stream)).state.first_seq);
  }
  return undefined;
}
