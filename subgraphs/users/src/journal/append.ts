/** Keeps the journal complete: consumes the feeds of all subgraphs into it (ADR 25). */
import { type FeedConsumer, consumeFeed } from '@trestle/chassis/events/consumers/consume-feed';
import type { EventFeed } from '@trestle/chassis/events/feeds/domain-event';
import type { Database } from '@trestle/chassis/database/database';
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';

const CONSUMER = 'journal';

/** What the journal is kept with. */
export interface JournalOptions {
  readonly feeds: readonly EventFeed[];
  readonly database: Pick<Database, 'query' | 'transact'>;
  readonly log: Log;
  readonly metrics: Registry;
  /** Called when events were appended, with the deliveries that they cause. */
  readonly onAppend: () => void;
}

/**
 * Starts the consumers. The events, their deliveries and the position in the feed are one transaction: nothing is lost and nothing doubled,
 * whatever ends this process and when. An event that comes again, after a backup of its source was restored, is known by its id.
 */
export function startJournal({ feeds, database, onAppend, ...observed }: JournalOptions): FeedConsumer {
  const transact: Database['transact'] = async (work) => {
    const result = await database.transact(work);
    onAppend();
    return result;
  };
  const consumers = feeds.map((feed) =>
    consumeFeed({
      feed,
      consumer: CONSUMER,
      database: { query: database.query, transact },
      ...observed,
      async handle(events, query) {
        await query('SELECT "journal_append"($1::jsonb)::float8 AS "position"', [JSON.stringify(events)]);
      },
    }),
  );
  return {
    async stop() {
      await Promise.all(consumers.map((consumer) => consumer.stop()));
    },
  };
}
