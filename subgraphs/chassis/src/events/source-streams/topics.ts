/** The topics of a subgraph: what clients and the subgraph itself can subscribe to. */
import type { TopicEvent } from './dispatcher.ts';
import type { StoredEvent } from '../outbox/event-log.ts';

/** Loads the rows that events are about, in one statement; null for a row that no longer exists, whose event is not delivered. */
export type LoadTopic = (events: readonly StoredEvent[]) => Promise<readonly (object | null)[]>;

/** Which events a topic has, and how their rows are loaded. */
export interface Topic {
  /** The types of its events; a type belongs to one topic at most. */
  readonly types: readonly string[];
  readonly load: LoadTopic;
}

/** The topics by their names. A topic is named after the subscription's field, if there is one. */
export type Topics = Readonly<Record<string, Topic>>;

/** Creates the function that loads rows by the subjects of events. */
export function loadBySubject<Row extends { readonly id: string }>(findByIds: (ids: readonly string[]) => Promise<readonly Row[]>) {
  return async (events: readonly Pick<StoredEvent, 'subject'>[]): Promise<(Row | null)[]> => {
    const rows = new Map((await findByIds([...new Set(events.map(({ subject }) => subject))])).map((row) => [row.id, row]));
    return events.map(({ subject }) => rows.get(subject) ?? null);
  };
}

/** Creates the function that names the topic of each event, and omits events of no topic. */
export function createTopicFinder(topics: Topics): (events: readonly StoredEvent[]) => TopicEvent[] {
  const names = new Map(Object.entries(topics).flatMap(([topic, { types }]) => types.map((type) => [type, topic] as const)));
  return (events) =>
    events.flatMap((event) => {
      const topic = names.get(event.type);
      return topic === undefined ? [] : [{ ...event, topic }];
    });
}

/** Runs one statement for each topic. Events whose row no longer exists are left out. */
export async function loadRows(topics: Topics, events: readonly TopicEvent[]): Promise<Map<TopicEvent, object>> {
  const rows = new Map<TopicEvent, object>();
  for (const topic of new Set(events.map((event) => event.topic))) {
    const ofTopic = events.filter((event) => event.topic === topic);
    const loaded = (await topics[topic]?.load(ofTopic)) ?? [];
    ofTopic.forEach((event, i) => {
      const row = loaded[i];
      if (row) rows.set(event, row);
    });
  }
  return rows;
}
