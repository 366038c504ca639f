/** Events in the JSON format of CloudEvents 1.0, as the bus carries them to other teams too. No I/O. */
import { fail } from '@trestle/schema/errors';
import type { DomainEvent } from '../feeds/domain-event.ts';
import { isDomainEvent } from '../feeds/parse-events.ts';

/** An event in the JSON format of CloudEvents 1.0 (§3). `position`, `ownerid` and `audience` are extension attributes. */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  /** The subgraph as a URI reference, e.g. `/orders`. */
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly position: string;
  /** Absent for an event that concerns no account. */
  readonly ownerid?: string;
  readonly audience: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Converts an event to the format of CloudEvents. */
export function toCloudEvent({ source, ownerId, data, ...event }: DomainEvent): CloudEvent {
  return {
    specversion: '1.0',
    ...event,
    source: `/${source}`,
    datacontenttype: 'application/json',
    ...(ownerId !== null && { ownerid: ownerId }),
    data,
  };
}

/** Parses a message that the publisher of the source has written. Throws UPSTREAM_ERROR for one that is no event of the source. */
export function parseCloudEvent(text: string, source: string): DomainEvent {
  const { id, position, type, subject, time, ownerid, audience, data, source: from } = parseObject(text);
  const event: unknown = { id, source, position, type, subject, time, ownerId: ownerid ?? null, audience, data };
  if (from !== `/${source}` || !isDomainEvent(event))
    throw fail('UPSTREAM_ERROR', `A message of ${source} is no event: \`${text.slice(0, 100)}\`.`);
  return event;
}

function parseObject(text: string): Partial<CloudEvent> {
  try {
    return (JSON.parse(text) as Partial<CloudEvent> | null) ?? {};
  } catch {
    return {};
  }
}
