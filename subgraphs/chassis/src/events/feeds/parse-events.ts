/** Checks events that come from another process. No I/O. */
import type { DomainEvent } from './domain-event.ts';

const AUDIENCES: readonly unknown[] = ['PUBLIC', 'USER', 'OWNER', 'ADMIN'] satisfies DomainEvent['audience'][];

/** Returns whether a value from outside has the form of an event. */
export function isDomainEvent(value: unknown): value is DomainEvent {
  if (typeof value !== 'object' || value === null) return false;
  const { ownerId, audience, data, ...strings } = value as Record<keyof DomainEvent, unknown>;
  return (
    [strings.id, strings.source, strings.position, strings.type, strings.subject, strings.time].every((each) => typeof each === 'string') &&
    (ownerId === null || typeof ownerId === 'string') &&
    AUDIENCES.includes(audience) &&
    typeof data === 'object' &&
    data !== null
  );
}
