/** Who listens to what in this process. Finds the receivers of an event without looking at all of them. No I/O. */
import type { StoredEvent } from './event-log.ts';
import type { Listening } from './listening.ts';

/** An event and the row that it tells of, as the resolvers know it. */
export interface Happening {
  readonly position: number;
  readonly row: object;
}

export interface Receiver {
  push(happening: Happening): void;
  /** Nothing will come any more. */
  end(error: Error): void;
}

export interface EventHub {
  /** Hands every event that fits to the receiver, until what it gives is called. */
  readonly attach: (listening: Listening, receiver: Receiver) => () => void;
  readonly isEmpty: () => boolean;
  readonly isWanted: (event: StoredEvent) => boolean;
  readonly handOut: (event: StoredEvent, row: object) => void;
  /** Lets go of all receivers. */
  readonly end: (error: Error) => void;
}

type Interest = Pick<Listening, 'topic' | 'where'>;

export function createEventHub(): EventHub {
  /** By topic and the first value that the event must have, if any. */
  const shelves = new Map<string, Map<Receiver, Interest>>();

  const receiversOf = (event: StoredEvent): Receiver[] => {
    const names = [`${event.topic}\n`, ...Object.entries(event.data).map(([name, value]) => `${event.topic}\n${name}=${String(value)}`)];
    return names.flatMap((name) =>
      [...(shelves.get(name) ?? [])].filter(([, interest]) => fits(event, interest)).map(([receiver]) => receiver),
    );
  };

  return {
    attach({ topic, where }, receiver) {
      const [first] = Object.entries(where);
      const name = `${topic}\n${first?.join('=') ?? ''}`;
      const shelf = shelves.get(name) ?? new Map<Receiver, Interest>();
      shelves.set(name, shelf.set(receiver, { topic, where }));
      return () => {
        shelf.delete(receiver);
        if (shelf.size === 0 && shelves.get(name) === shelf) shelves.delete(name);
      };
    },
    isEmpty: () => shelves.size === 0,
    isWanted: (event) => receiversOf(event).length > 0,
    handOut(event, row) {
      const happening: Happening = { position: event.position, row };
      for (const receiver of receiversOf(event)) receiver.push(happening);
    },
    end(error) {
      const receivers = [...shelves.values()].flatMap((shelf) => [...shelf.keys()]);
      shelves.clear();
      for (const receiver of receivers) receiver.end(error);
    },
  };
}

function fits({ data }: StoredEvent, { where }: Interest): boolean {
  return Object.entries(where).every(([name, value]) => data[name] === value);
}
