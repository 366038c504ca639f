/** Consumes events again that were set aside (`dead-letters.ts`), once an operator has requested it, and counts them. */
import type { Log } from '@trestle/log';
import { type Registry, Gauge } from 'prom-client';
import type { Database } from '../../database/database.ts';
import type { Query } from '../../database/query.ts';
import { type DeadLetter, countDeadLetters, deleteDeadLetter, findReplay, storeReplayFailure } from './dead-letters.ts';
import type { DomainEvent, EventFeed } from '../feeds/domain-event.ts';
import { type ConsumerKey, lockPosition } from './feed-position.ts';

/** What replays are created from: the options of the consumer. */
export interface ReplayOptions {
  readonly feed: Pick<EventFeed, 'source'>;
  readonly consumer: string;
  readonly database: Pick<Database, 'query' | 'transact'>;
  readonly handle: (events: readonly DomainEvent[], query: Query) => Promise<void>;
  /** Returns whether an error is not of the event. */
  readonly isTransient: (error: unknown) => boolean;
  readonly log: Log;
  readonly metrics: Registry;
}

const METRIC = 'trestle_events_set_aside';
/** How often requests are looked for while events come. */
const LOOK_MS = 1000;

/** Creates the function that consumes all events whose replay is requested. Called between two reads of the feed. */
export function createReplays(options: ReplayOptions): (signal: AbortSignal) => Promise<void> {
  const { consumer, feed, database, metrics } = options;
  const key = { consumer, source: feed.source };
  const gauge = toGauge(metrics);
  let lookedAt = -Infinity;
  return async (signal) => {
    if (performance.now() - lookedAt < LOOK_MS) return;
    let count = await countDeadLetters(key, database.query);
    gauge.set({ ...key }, count);
    while (count > 0 && !signal.aborted && (await replayNext(options, key))) {
      count = await countDeadLetters(key, database.query);
      gauge.set({ ...key }, count);
    }
    lookedAt = performance.now();
  };
}

/** Consumes one event. Resolves with false when no replay is requested. Throws when the database or another service fails. */
async function replayNext({ database, handle, isTransient, log, consumer }: ReplayOptions, key: ConsumerKey): Promise<boolean> {
  let letter: DeadLetter | undefined;
  try {
    return await database.transact(async (query) => {
      await lockPosition(key, query);
      letter = await findReplay(key, query);
      if (!letter) return false;
      await handle([letter.event], query);
      await deleteDeadLetter(query, letter.number);
      return true;
    });
  } catch (error) {
    if (!letter || isTransient(error)) throw error;
    await storeReplayFailure(database.query, letter.number, error);
    log.error(`${consumer} still cannot consume ${letter.event.type} ${letter.event.id} of ${key.source}`, { error });
    return true;
  }
}

/** The consumers of a process share the metric. */
function toGauge(metrics: Registry): Gauge<'consumer' | 'source'> {
  const known = metrics.getSingleMetric(METRIC) as Gauge<'consumer' | 'source'> | undefined;
  return (
    known ??
    new Gauge({
      name: METRIC,
      help: 'Events that a consumer has set aside because their effect failed, and those of the same subject behind them.',
      labelNames: ['consumer', 'source'],
      registers: [metrics],
    })
  );
}
