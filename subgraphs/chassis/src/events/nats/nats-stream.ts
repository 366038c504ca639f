/** Finds places in a stream of events by the positions of the outbox, which grow with the sequence of messages. */
import { fail } from '@trestle/schema/errors';
import { parseCloudEvent } from './cloud-event.ts';
import { type DomainEvent, type FeedPosition, parseFeedPosition } from '../feeds/domain-event.ts';
import type { OpenBus } from './nats-bus.ts';

interface StreamOfSource {
  readonly stream: string;
  readonly source: string;
}

/** A message, and the event in it. */
export interface Message {
  readonly sequence: number;
  /** Undefined when the stream is empty. */
  readonly event: DomainEvent | undefined;
}

/** How often the last message is read again when it is gone: a publisher that begins the stream again has just removed it. */
const READS = 5;

/** Reads the last message of a stream. */
export async function readLastMessage(open: OpenBus, { stream, source }: StreamOfSource): Promise<Message> {
  for (let left = READS; ; left--) {
    const { state } = await open.jsm.streams.info(stream);
    const { last_seq: sequence } = state;
    if (state.messages === 0) return { sequence, event: undefined };
    const event = await findEvent(open, { stream, source }, sequence);
    if (event) return { sequence, event };
    if (left === 1) throw noEvent(stream, sequence);
  }
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
  const newest = await readPosition(open, of, high);
  if (newest.position < wanted.position && isLater(newest, wanted)) throw gone(after);
  if (newest.position < wanted.position) return undefined;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await readPosition(open, of, middle)).position < wanted.position) low = middle + 1;
    else high = middle;
  }
  const { id } = await readPosition(open, of, low);
  if (id !== wanted.id) throw gone(after);
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

async function readPosition(open: OpenBus, of: StreamOfSource, sequence: number): Promise<FeedPosition> {
  const { position } = await readEvent(open, of, sequence);
  const parsed = parseFeedPosition(position);
  if (!parsed) throw fail('UPSTREAM_ERROR', `Message ${String(sequence)} of ${of.stream} has no position.`);
  return parsed;
}

async function readEvent(open: OpenBus, of: StreamOfSource, sequence: number): Promise<DomainEvent> {
  const event = await findEvent(open, of, sequence);
  if (!event) throw noEvent(of.stream, sequence);
  return event;
}

async function findEvent({ jsm }: OpenBus, { stream, source }: StreamOfSource, sequence: number): Promise<DomainEvent | undefined> {
  const message = await jsm.streams.getMessage(stream, { seq: sequence });
  return message ? parseCloudEvent(message.string(), source) : undefined;
}

function noEvent(stream: string, sequence: number): Error {
  return fail('UPSTREAM_ERROR', `Message ${String(sequence)} of ${stream} is no event.`);
}
