/** Events as other subgraphs receive them, and the interface by which they read them (ADR 24). Every adapter passes one contract test. */
import type { Audience } from '@trestle/schema/event-types';
import type { StoredEvent } from '../outbox/event-log.ts';

/** What has happened in a subgraph. The attributes correspond to those of CloudEvents 1.0. */
export interface DomainEvent {
  readonly id: string;
  /** The subgraph, e.g. `orders`. */
  readonly source: string;
  /** Opaque: what a reader passes as `after` to read on behind this event. */
  readonly position: string;
  /** What happened, e.g. `order.paid`. */
  readonly type: string;
  /** The id of the entity that has changed. */
  readonly subject: string;
  /** The account that the event concerns; null for none. */
  readonly ownerId: string | null;
  /** Who may learn of it. `OWNER` includes administrators, and moderators where they may see everything (contract §3). */
  readonly audience: Audience;
  /** Ids, states and versions; no personal data. */
  readonly data: Readonly<Record<string, unknown>>;
  /** When the change was written: ISO 8601, UTC. */
  readonly time: string;
}

/** The events of one subgraph, in an order that keeps the order of the changes of each entity. */
export interface EventFeed {
  /** The subgraph whose events these are. */
  readonly source: string;
  /**
   * Resolves with up to `limit` events (1 to 1,000) behind the position `after`; without it, from the oldest that is kept. Waits a while for the first
   * one, then resolves with none. Throws GONE when events behind `after` are no longer kept, or `after` is of another history, such as
   * one before a backup was restored. Throws SERVICE_UNAVAILABLE when events cannot be read now. Rejects when the signal is aborted.
   */
  readonly read: (after: string | undefined, limit: number, signal: AbortSignal) => Promise<readonly DomainEvent[]>;
}

/** The most events of one read. */
export const MAX_FEED_EVENTS = 1000;

/** Positions are whole numbers, small enough that a double represents each exactly, with the id of the event. */
const POSITION = /^([1-9]\d{0,14})\.(evt_[0-9a-z]{26})$/;

/** Where an event stands in its subgraph's outbox. */
export interface FeedPosition {
  readonly position: number;
  /** Differs between two histories that have the same positions: a restored backup counts on from an older one. */
  readonly id: string;
}

/** Parses the position of an event. Returns undefined for a string that is none. */
export function parseFeedPosition(position: string): FeedPosition | undefined {
  const [, number, id] = POSITION.exec(position) ?? [];
  return number === undefined || id === undefined ? undefined : { position: Number(number), id };
}

/** Converts a row whose audience is not null. */
export function toDomainEvent({ position, id, createdAt, audience, ...event }: StoredEvent, source: string): DomainEvent {
  return {
    id,
    source,
    position: `${String(position)}.${id}`,
    type: event.type,
    subject: event.subject,
    ownerId: event.ownerId,
    audience: audience ?? 'ADMIN',
    data: event.data,
    time: createdAt.toISOString(),
  };
}
