/** Finds the last event of a part of a stream, behind which there may be any number of messages of other clients. */
import type { DomainEvent } from '../feeds/domain-event.ts';
import type { OpenBus } from './nats-bus.ts';
import { isPublished, parseStored } from './stream-message.ts';

/** The stream of a subgraph's events. */
export interface StreamOfSource {
  readonly stream: string;
  readonly source: string;
}

/** Messages from one sequence to another one, both included. */
export interface Range {
  readonly first: number;
  readonly last: number;
}

/** An event, and its sequence in the stream. */
export interface FoundEvent {
  readonly sequence: number;
  readonly event: DomainEvent;
}

/** How many sequences are looked at with one request: more with each further one. */
const BLOCK = { first: 256, factor: 4, most: 16_384 };
const FETCH_MS = 5000;
const FORGET_AFTER_NS = 10_000_000_000;

/**
 * Resolves with the last event; with undefined when there is none. Messages of other clients, and those that operators have removed, are passed over:
 * only their headers are read, in blocks.
 */
export async function findLatest(open: OpenBus, of: StreamOfSource, range: Range): Promise<FoundEvent | undefined> {
  const found = await readAt(open, of, range.last);
  if (found) return found;
  let [first, last, size] = [range.first, range.last - 1, BLOCK.first];
  while (last >= first) {
    const start = Math.max(first, last - size + 1);
    const sequence = await findPublished(open, of.stream, { first: start, last });
    const event = sequence === undefined ? undefined : await readAt(open, of, sequence);
    if (event) return event;
    // Nothing is left to look at when a publisher that begins the stream again has just removed all messages.
    first = Math.max(first, (await open.jsm.streams.info(of.stream)).state.first_seq);
    last = (sequence ?? start) - 1;
    size = Math.min(size * BLOCK.factor, BLOCK.most);
  }
  return undefined;
}

async function readAt({ jsm }: OpenBus, { stream, source }: StreamOfSource, sequence: number): Promise<FoundEvent | undefined> {
  const message = await jsm.streams.getMessage(stream, { seq: sequence });
  const event = message && parseStored(message, source);
  return event ? { sequence, event } : undefined;
}

/** Resolves with the sequence of the last message of the range that a publisher has written. */
async function findPublished({ js, jsm }: OpenBus, stream: string, { first, last }: Range): Promise<number | undefined> {
  const { name, num_pending: pending } = await jsm.consumers.add(stream, {
    ...{ ack_policy: 'none', deliver_policy: 'by_start_sequence', opt_start_seq: first, headers_only: true },
    ...{ mem_storage: true, inactive_threshold: FORGET_AFTER_NS },
  });
  let found: number | undefined;
  if (pending > 0) {
    const consumer = await js.consumers.get(stream, name);
    const messages = await consumer.fetch({ max_messages: Math.min(last - first + 1, pending), expires: FETCH_MS });
    for await (const message of messages) {
      if (message.seq > last) break;
      if (isPublished(message)) found = message.seq;
    }
  }
  await jsm.consumers.delete(stream, name);
  return found;
}
