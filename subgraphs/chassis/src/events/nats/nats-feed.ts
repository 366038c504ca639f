/** Reads the events of a subgraph from JetStream. Positions are those of the outbox, so that a consumer may change its transport. */
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { setTimeout as delay } from 'node:timers/promises';
import { Fault, fail } from '@trestle/schema/errors';
import { type DomainEvent, type EventFeed, parseFeedPosition } from '../feeds/domain-event.ts';
import type { NatsBus } from './nats-bus.ts';
import { findSequence } from './nats-stream.ts';
import type { ForeignMessages } from './foreign-messages.ts';
import { parseMessage } from './stream-message.ts';

const WAIT_MS = 20_000;
/** How often it is checked whether the stream has reached a position that is beyond its end. */
const LAG_MS = 500;
/** How long messages that the stream has already take at most. */
const FETCH_MS = 5000;
const FORGET_AFTER_NS = 60_000_000_000;

/** What the feed is created from. */
export interface NatsFeedOptions {
  readonly source: string;
  readonly bus: NatsBus;
  /** Is called with the messages of other clients that a read has passed over, one or more. */
  readonly onForeign?: ForeignMessages | undefined;
  /** How long a read waits for the first event, in milliseconds. */
  readonly waitMs?: number;
}

/** A consumer of the stream that stands behind a position. */
interface Cursor {
  readonly consumer: Consumer;
  readonly after: string | undefined;
}

/** Creates the feed. Reads one after the other share a consumer of the stream; each continues where the last one ended. */
export function createNatsFeed({ source, bus, onForeign, waitMs = WAIT_MS }: NatsFeedOptions): EventFeed {
  let cursor: Cursor | undefined;

  async function seek(after: string | undefined): Promise<Consumer | undefined> {
    const open = await bus.ensureStream(source);
    const stream = bus.streamOf(source);
    const sequence = await findSequence(open, { stream, source }, after);
    if (sequence === undefined) return undefined;
    const { name } = await open.jsm.consumers.add(stream, {
      ...{ ack_policy: 'none', deliver_policy: 'by_start_sequence', opt_start_seq: sequence },
      ...{ mem_storage: true, inactive_threshold: FORGET_AFTER_NS },
    });
    return open.js.consumers.get(stream, name);
  }

  async function read(after: string | undefined, limit: number, signal: AbortSignal): Promise<readonly DomainEvent[]> {
    const known = cursor?.after === after ? cursor?.consumer : undefined;
    // Until this read has succeeded the consumer may stand anywhere.
    cursor = undefined;
    const consumer = known ?? (await orAbort(seek(after), signal));
    if (!consumer) {
      await delay(LAG_MS, undefined, { signal });
      return [];
    }
    const messages = await orAbort(take(consumer, limit, waitMs), signal);
    const parsed = messages.map((message) => parseMessage(message, source));
    const events = parsed.filter((event) => event !== undefined);
    if (isBegunAgain(after, events)) throw fail('GONE', `The events of ${source} begin again. Read without a position.`);
    cursor = { consumer, after: events.at(-1)?.position ?? after };
    const [first, ...others] = messages.filter((_, at) => parsed[at] === undefined);
    if (first) onForeign?.(source, [first, ...others]);
    return events;
  }

  return {
    source,
    read: (after, limit, signal) =>
      read(after, limit, signal).catch((cause: unknown) => {
        signal.throwIfAborted();
        throw cause instanceof Fault
          ? cause
          : fail('SERVICE_UNAVAILABLE', `The events of ${source} are not available from NATS.`, { cause });
      }),
  };
}

/** Waits for the first message, and then takes those that the stream has already. */
async function take(consumer: Consumer, limit: number, waitMs: number): Promise<JsMsg[]> {
  const first = await consumer.next({ expires: waitMs });
  if (!first) return [];
  const messages = [first];
  const more = Math.min(limit - 1, first.info.pending);
  if (more === 0) return messages;
  for await (const message of await consumer.fetch({ max_messages: more, expires: FETCH_MS })) messages.push(message);
  return messages;
}

/** Returns whether the stream was begun again behind this position: the database of the source was restored (`nats-publisher.ts`). */
function isBegunAgain(after: string | undefined, [first]: readonly DomainEvent[]): boolean {
  const [read, next] = [after, first?.position].map((position) => (position === undefined ? undefined : parseFeedPosition(position)));
  return read !== undefined && next !== undefined && next.position <= read.position;
}

/** Rejects when the signal is aborted, though the request goes on until its time limit. */
async function orAbort<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const abort = () => {
      reject(new Error('The read was aborted.'));
    };
    signal.addEventListener('abort', abort, { once: true });
    reading.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', abort);
    });
  });
}
