/** What the resolver of a subscription gives: which events to listen to. It opens nothing; socket-operations.ts does. */

/** Values in an event's `data` that must be equal. */
export type Where = Readonly<Record<string, string>>;

export class Listening<Topic extends string = string, Row = unknown> implements AsyncIterable<Readonly<Record<Topic, Row>>> {
  readonly topic: Topic;
  readonly where: Where;

  constructor(topic: Topic, where: Where) {
    this.topic = topic;
    this.where = where;
  }

  /** Only there because graphql-js asks for something that could be iterated. */
  [Symbol.asyncIterator](): AsyncIterator<Readonly<Record<Topic, Row>>> {
    throw new Error(`Events of ${this.topic} are only for sockets`);
  }
}

/** Listens to the events of a topic, which has the name of the subscription's field; with `where`, to those with these values only. */
export function listenTo<Topic extends string, Row>(topic: Topic, where: Where = {}): Listening<Topic, Row> {
  return new Listening(topic, where);
}
