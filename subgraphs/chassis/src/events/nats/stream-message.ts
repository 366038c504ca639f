/**
 * Messages in the stream of a subgraph. Every client of NATS that may publish can add one, so a message counts as an event only when a publisher of
 * the subgraph has written it, which its `Nats-Msg-Id` shows. No I/O.
 */
import type { JsMsg, StoredMsg } from '@nats-io/jetstream';
import { parseCloudEvent } from './cloud-event.ts';
import type { DomainEvent } from '../feeds/domain-event.ts';

const HEADER = 'Nats-Msg-Id';
const MESSAGE_ID = /^evt_[0-9a-z]{26}\.([1-9]\d*)$/;

/**
 * Returns the `Nats-Msg-Id` of an event: with its sequence, because events of a backup that was restored are published again, soon after the first
 * time.
 */
export function toMessageId(eventId: string, sequence: number): string {
  return `${eventId}.${String(sequence)}`;
}

/** Returns whether a publisher has written the message: a copy that another client adds has another sequence. */
export function isPublished({ seq, headers }: Pick<JsMsg, 'seq' | 'headers'>): boolean {
  return Number(MESSAGE_ID.exec(headers?.get(HEADER) ?? '')?.[1]) === seq;
}

/**
 * Parses a message. Returns undefined for one of another client. Throws UPSTREAM_ERROR for one of a publisher that is no event: it may be of a newer
 * release, and must not be left out.
 */
export function parseMessage(message: Pick<JsMsg, 'seq' | 'headers' | 'string'>, source: string): DomainEvent | undefined {
  return isPublished(message) ? parseCloudEvent(message.string(), source) : undefined;
}

/** Parses a message that was read by its sequence, as {@link parseMessage} does. */
export function parseStored(message: StoredMsg, source: string): DomainEvent | undefined {
  return parseMessage({ seq: message.seq, headers: message.header, string: () => message.string() }, source);
}
