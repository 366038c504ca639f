/** The feeds of all subgraphs as one subgraph reads them: its own from its outbox, those of others by the transport of the settings. */
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import { SUBGRAPH_NAMES, type SubgraphName, eventsUrlSettingOf } from '@trestle/schema/subgraphs';
import type { EventFeed } from './feeds/domain-event.ts';
import { createHttpFeed } from './feeds/http-feed.ts';
import { createForeignMessages } from './nats/foreign-messages.ts';
import { createNatsBus } from './nats/nats-bus.ts';
import { createNatsFeed } from './nats/nats-feed.ts';
import { publishFeed } from './nats/nats-publisher.ts';

/** The settings of feeds. */
export type FeedSettings = {
  readonly EVENTS_KEY_FILE?: string | undefined;
  readonly EVENTS_RETENTION_HOURS: number;
  readonly NATS_URL?: string | undefined;
  readonly NATS_PREFIX: string;
} & Readonly<Partial<Record<ReturnType<typeof eventsUrlSettingOf<SubgraphName>>, string | undefined>>>;

/** What feeds are created from. */
export interface FeedsOptions {
  /** The feed of this process's own outbox. */
  readonly local: EventFeed;
  readonly settings: FeedSettings;
  readonly log: Log;
  readonly metrics: Registry;
}

/** The feeds of a process. */
export interface Feeds {
  readonly feeds: readonly EventFeed[];
  /** Stops what the feeds need besides. */
  readonly stop: () => Promise<void>;
}

/**
 * Returns a feed for each subgraph whose events this process can read; logs those that it cannot. With `NATS_URL` the events of the others come
 * from there, and the process publishes its own; its own it always reads from its outbox.
 */
export function createFeeds({ local, settings, log, metrics }: FeedsOptions): Feeds {
  const { NATS_URL: url, NATS_PREFIX: prefix, EVENTS_RETENTION_HOURS: retentionHours } = settings;
  const others = SUBGRAPH_NAMES.filter((source) => source !== local.source);
  if (url === undefined)
    return { feeds: [local, ...others.flatMap((source) => httpFeed(source, settings, log))], stop: () => Promise.resolve() };
  const bus = createNatsBus({ url, prefix, retentionHours });
  const publisher = publishFeed({ feed: local, bus, log });
  const onForeign = createForeignMessages({ log, metrics });
  return {
    feeds: [local, ...others.map((source) => createNatsFeed({ source, bus, onForeign }))],
    async stop() {
      await publisher.stop();
      await bus.close();
    },
  };
}

function httpFeed(source: SubgraphName, settings: FeedSettings, log: Log): EventFeed[] {
  const setting = eventsUrlSettingOf(source);
  const [url, key] = [settings[setting], settings.EVENTS_KEY_FILE];
  if (url !== undefined && key !== undefined) return [createHttpFeed({ source, url, key })];
  log.warn(`events of ${source} are not consumed: ${setting} and EVENTS_KEY_FILE are not both set`);
  return [];
}
