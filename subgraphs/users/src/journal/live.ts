/** The live events of the journal: read once for all subscribers of this process, and given to those that may learn of them. */
import type { LoadedEvent, Subscriber, TopicEvent } from '@trestle/chassis/events/source-streams/dispatcher';
import type { ClientPosition } from '@trestle/chassis/events/source-streams/client-position';
import { EventReader, stopping } from '@trestle/chassis/events/outbox/event-reader';
import { reset } from '@trestle/chassis/events/source-streams/events';
import { EventSelection } from '@trestle/chassis/events/outbox/event-selection';
import { HistoryMark } from '@trestle/chassis/events/outbox/history-mark';
import { type History, SourceStream } from '@trestle/chassis/events/source-streams/source-stream';
import type { Log } from '@trestle/log';
import { type EventScope, type JournalEvent, isInScope } from './rules.ts';
import type { JournalStore } from './store.ts';

/** The name of the subscription's field. */
const TOPIC = 'eventAdded';
/** The functions of the migration notify it. */
const CHANNEL = 'trestle_journal';
const PAGE = 500;

/** The events of the journal that belong to a scope. */
export class JournalSelection extends EventSelection<typeof TOPIC, JournalEvent> {
  readonly scope: EventScope;

  constructor(scope: EventScope) {
    super(TOPIC, {});
    this.scope = scope;
  }
}

/** Opens streams of events. */
export interface LiveJournal {
  /** Creates the stream of the selected events, from behind the position `after`, or from now on. */
  readonly open: (selection: EventSelection, after?: ClientPosition) => SourceStream;
  readonly close: () => Promise<void>;
}

/** What it is created from. */
export interface LiveJournalOptions {
  readonly url: string;
  readonly journal: Pick<JournalStore, 'bounds' | 'findId' | 'read' | 'readScope'>;
  readonly log: Log;
}

/** Creates it. It connects when the first subscriber comes. */
export function createLiveJournal({ url, journal, log }: LiveJournalOptions): LiveJournal {
  const subscribers = new Map<Subscriber, EventScope>();
  const mark = new HistoryMark();
  let last = 0;

  const end = (error: Error) => {
    const ended = [...subscribers.keys()];
    subscribers.clear();
    for (const subscriber of ended) subscriber.end(error);
  };
  const reader = new EventReader({
    url,
    log,
    channel: CHANNEL,
    onOutage: end,
    async read(_, isFirst) {
      const { oldest, newest } = await journal.bounds();
      if (newest < last || (isFirst && !(await mark.isStored(journal.findId, oldest)))) {
        end(reset());
        last = newest;
      }
      if (subscribers.size === 0) last = Math.max(last, newest);
      while (last < newest) {
        const events = await journal.read(last, PAGE);
        for (const event of events) dispatch(subscribers, event);
        last = events.at(-1)?.position ?? newest;
      }
      await mark.set(subscribers.size === 0 ? undefined : last, journal.findId);
      return true;
    },
  });

  async function readHistory(scope: EventScope, after: number, limit: number): Promise<History> {
    const { oldest, newest } = await journal.bounds();
    const settled = Math.max(newest, last);
    const events = await journal.readScope(scope, after, limit);
    return { oldest, settled, newest: settled, events: events.filter(({ position }) => position <= settled).map(toTopicEvent) };
  }

  return {
    open(selection, after) {
      if (!(selection instanceof JournalSelection)) throw new Error(`${selection.topic} is no selection of the journal`);
      const { scope } = selection;
      return new SourceStream({
        after,
        readHistory: (position, limit) => readHistory(scope, position, limit),
        loadRows: (events) => Promise.resolve(new Map(events.map((event) => [event, toRow(event)]))),
        catchUp: () => reader.catchUp(),
        findId: journal.findId,
        position: () => last,
        subscribe(subscriber) {
          subscribers.set(subscriber, scope);
          return () => subscribers.delete(subscriber);
        },
      });
    },
    async close() {
      end(stopping());
      await reader.close();
    },
  };
}

function dispatch(subscribers: ReadonlyMap<Subscriber, EventScope>, event: JournalEvent): void {
  const loaded: LoadedEvent = { position: event.position, id: event.id, row: event };
  for (const [subscriber, scope] of subscribers) if (isInScope(event, scope)) subscriber.push(loaded);
}

function toTopicEvent({ subject, time, ...event }: JournalEvent): TopicEvent {
  return { ...event, subject: subject ?? '', createdAt: time, topic: TOPIC, source: event.source } as TopicEvent;
}

function toRow({ createdAt, subject, ...event }: TopicEvent): object {
  return { ...event, subject: subject === '' ? null : subject, time: createdAt };
}
