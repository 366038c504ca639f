/** What the resolver of a subscription returns: which events it selects. It opens nothing; the socket's operations do. */

/** Values that an event must have: its `subject`, its `ownerId`, and members of its `data` by their names. */
export type EventFilter = Readonly<Record<string, string>>;

/** A selection of events: a topic, which is named after the subscription's field, and a filter. */
export class EventSelection<Topic extends string = string, Row = unknown> implements AsyncIterable<Readonly<Record<Topic, Row>>> {
  readonly topic: Topic;
  readonly where: EventFilter;

  constructor(topic: Topic, where: EventFilter) {
    this.topic = topic;
    this.where = where;
  }

  /** Exists only because graphql-js requires an iterable from `subscribe`; never called. */
  [Symbol.asyncIterator](): AsyncIterator<Readonly<Record<Topic, Row>>> {
    throw new Error(`Events of ${this.topic} are delivered by sockets only.`);
  }
}

/** Selects the events of a topic; with `where`, only those that have these values. */
export function selectEvents<Topic extends string, Row>(topic: Topic, where: EventFilter = {}): EventSelection<Topic, Row> {
  return new EventSelection(topic, where);
}
