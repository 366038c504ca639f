/** Events as readers of the journal see them, and who may learn of which (contract §3). Pure: no database, no clock. */
import type { Caller } from '@trestle/identity';
import { type ClientPosition, formatClientPosition, parseClientPosition } from '@trestle/chassis/events/source-streams/client-position';
import { formatDateTime } from '@trestle/chassis/values/date-time';
import { type Audience, isEventTypeFilter } from '@trestle/schema/event-types';
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';

/** An event without its position: as it arrives, and as it is sent. */
export interface EventRecord {
  readonly id: string;
  readonly type: string;
  /** The subgraph in which it happened. */
  readonly source: string;
  readonly subject: string | null;
  readonly ownerId: string | null;
  readonly audience: Audience;
  readonly data: Readonly<Record<string, unknown>>;
  readonly time: Date;
}

/** An event of the journal. */
export interface JournalEvent extends EventRecord {
  /** Grows by one with each event of the journal. */
  readonly position: number;
}

/** The events that a reader gets: those it may learn of, of some types. */
export interface EventScope {
  readonly userId: string;
  readonly role: Caller['role'];
  /** Null for all types. */
  readonly types: readonly string[] | null;
}

const MAX_TYPES = 50;
/** Cursors are the positions of subscriptions as the gateway shows them, so that a stream can go on where a list has ended (ADR 11, ADR 25). */
const OWNER = 'users';

/** Returns the faults of a list of types: exact ones, families such as `post.*`, or `*`. */
export function checkTypes(types: readonly string[], field: string): FieldFault[] {
  if (types.length < 1 || types.length > MAX_TYPES) return [{ field, message: `must have 1 to ${String(MAX_TYPES)} items` }];
  const unknown = types.find((type) => !isEventTypeFilter(type));
  return unknown === undefined
    ? []
    : [{ field, message: `must contain types of events, families such as post.*, or *; ${JSON.stringify(unknown)} is none` }];
}

/** Returns what a caller may read. Throws VALIDATION_ERROR. */
export function toEventScope({ userId, role }: Pick<Caller, 'userId' | 'role'>, types: readonly string[] | null | undefined): EventScope {
  if (types) rejectFaults(checkTypes(types, 'types'));
  return { userId, role, types: types ?? null };
}

/** Returns the cursor of a position. */
export function toCursor(position: ClientPosition): string {
  return Buffer.from(JSON.stringify([OWNER, formatClientPosition(position)])).toString('base64url');
}

/** Parses a cursor of the journal. Throws VALIDATION_ERROR. */
export function parseCursor(cursor: string | null | undefined): ClientPosition | undefined {
  if (cursor == null) return undefined;
  const position = decodeCursor(cursor);
  if (position === undefined) rejectFaults([{ field: 'after', message: 'is not a cursor of events' }]);
  return position;
}

function decodeCursor(cursor: string): ClientPosition | undefined {
  try {
    const pair = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
    if (!Array.isArray(pair) || pair.length !== 2 || pair[0] !== OWNER) return undefined;
    return typeof pair[1] === 'string' ? parseClientPosition(pair[1]) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether an event belongs to a scope. The same rule as the functions "may_learn" and "type_patterns" of the database. */
export function isInScope(event: Pick<EventRecord, 'type' | 'audience' | 'ownerId'>, { userId, role, types }: EventScope): boolean {
  return mayLearn(event, { userId, role }) && (types === null || types.some((type) => matchesType(type, event.type)));
}

function mayLearn(
  { type, audience, ownerId }: Pick<EventRecord, 'type' | 'audience' | 'ownerId'>,
  reader: Omit<EventScope, 'types'>,
): boolean {
  if (audience === 'PUBLIC' || audience === 'USER' || reader.role === 'ADMIN') return true;
  if (audience === 'ADMIN') return false;
  return ownerId === reader.userId || (reader.role === 'MODERATOR' && /^(?:post|comment)\./.test(type));
}

function matchesType(filter: string, type: string): boolean {
  return filter === '*' || filter === type || filter === `${type.split('.')[0] ?? ''}.*`;
}

/** Converts an event to a CloudEvent in JSON (CloudEvents 1.0, JSON event format). */
export function toCloudEvent({ id, type, source, subject, time, data }: Omit<EventRecord, 'ownerId' | 'audience'>): object {
  return {
    specversion: '1.0',
    id,
    source: toSource(source),
    type,
    ...(subject !== null && { subject }),
    time: formatDateTime(time),
    datacontenttype: 'application/json',
    data,
  };
}

/** Returns the attribute `source` of a subgraph's events: a URI reference. */
export function toSource(subgraph: string): string {
  return `/${subgraph}`;
}
