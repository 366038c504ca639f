/** The subscribers of this process. Finds the subscribers of an event without looking at all of them. No I/O. */
import { type StoredEvent, attributesOf } from '../outbox/event-log.ts';
import type { EventSelection } from '../outbox/event-selection.ts';

/** An event of a topic. */
export type TopicEvent = StoredEvent & { readonly topic: string };

/** An event with the row that it is about, as resolvers know it. */
export interface LoadedEvent {
  readonly position: number;
  readonly id: string;
  readonly row: object;
}

/** Receives the events that it has subscribed to. */
export interface Subscriber {
  push(event: LoadedEvent): void;
  /** Called once when no more events will come. */
  end(error: Error): void;
}

/** Which events a subscriber gets. */
export type Selection = Pick<EventSelection, 'topic' | 'where'>;

/** Dispatches events to subscribers. */
export interface Dispatcher {
  /** Passes every selected event to the subscriber, until the returned function is called. */
  readonly subscribe: (selection: Selection, subscriber: Subscriber) => () => void;
  readonly isEmpty: () => boolean;
  readonly hasSubscribers: (event: TopicEvent) => boolean;
  readonly dispatch: (event: TopicEvent, row: object) => void;
  /** Ends all subscribers with an error. */
  readonly end: (error: Error) => void;
}

/** Creates a dispatcher without subscribers. */
export function createDispatcher(): Dispatcher {
  /** By topic and the first value that the event must have, if any. */
  const groups = new Map<string, Map<Subscriber, Selection>>();

  const subscribersOf = (event: TopicEvent): Subscriber[] => {
    const keys = [toKey(event.topic), ...Object.entries(attributesOf(event)).map((value) => toKey(event.topic, value))];
    return keys.flatMap((key) =>
      [...(groups.get(key) ?? [])].filter(([, selection]) => isSelected(event, selection)).map(([subscriber]) => subscriber),
    );
  };

  return {
    subscribe({ topic, where }, subscriber) {
      const key = toKey(topic, Object.entries(where)[0]);
      const group = groups.get(key) ?? new Map<Subscriber, Selection>();
      groups.set(key, group.set(subscriber, { topic, where }));
      return () => {
        group.delete(subscriber);
        if (group.size === 0 && groups.get(key) === group) groups.delete(key);
      };
    },
    isEmpty: () => groups.size === 0,
    hasSubscribers: (event) => subscribersOf(event).length > 0,
    dispatch(event, row) {
      const loaded: LoadedEvent = { position: event.position, id: event.id, row };
      for (const subscriber of subscribersOf(event)) subscriber.push(loaded);
    },
    end(error) {
      const subscribers = [...groups.values()].flatMap((group) => [...group.keys()]);
      groups.clear();
      for (const subscriber of subscribers) subscriber.end(error);
    },
  };
}

function toKey(topic: string, [name, value]: readonly [name?: string, value?: unknown] = []): string {
  return name === undefined ? `${topic}\n` : `${topic}\n${name}=${String(value)}`;
}

function isSelected(event: StoredEvent, { where }: Selection): boolean {
  const attributes = attributesOf(event);
  return Object.entries(where).every(([name, value]) => attributes[name] === value);
}
