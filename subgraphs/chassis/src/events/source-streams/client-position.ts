/**
 * Positions as subscribers see them (docs/resume-protocol.md): the number of an event, and its id. A database that was restored counts on from
 * an older number, so that two histories have the same numbers; the id shows which one a subscriber has read (ADR 24). No I/O.
 */

/** The place of an event in the sequence of events of one database. */
export interface ClientPosition {
  readonly position: number;
  /** Undefined for a place whose event was removed, or before the first event. */
  readonly id: string | undefined;
}

/** Numbers are small enough that a double represents each exactly. */
const POSITION = /^(0|[1-9]\d{0,14})(?:\.(evt_[0-9a-z]{26}))?$/;

/** Parses a position. Returns undefined for a string that is none. */
export function parseClientPosition(text: string): ClientPosition | undefined {
  const [, number, id] = POSITION.exec(text) ?? [];
  return number === undefined ? undefined : { position: Number(number), id };
}

/** Formats a position; `parseClientPosition` reads it. */
export function formatClientPosition({ position, id }: ClientPosition): string {
  return id === undefined ? String(position) : `${String(position)}.${id}`;
}

/**
 * Returns whether a position belongs to a database.
 * @param given The position that a subscriber has sent.
 * @param stored The id of the event that the database has there; undefined for none.
 * @param oldest The number of the first event that the database keeps.
 */
export function isSameHistory({ position, id }: ClientPosition, stored: string | undefined, oldest: number): boolean {
  // An event that was removed cannot be compared, and neither can a position without an id.
  return id === undefined || id === stored || (stored === undefined && position < oldest);
}
