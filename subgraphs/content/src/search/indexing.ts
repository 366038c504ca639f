/** Keeps the search index up to date: consumes the events of all subgraphs, and builds the index when that is requested (ADR 28). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Database } from '@trestle/chassis/database/database';
import { consumeFeed } from '@trestle/chassis/events/consumers/consume-feed';
import type { EventFeed } from '@trestle/chassis/events/feeds/domain-event';
import type { Log } from '@trestle/log';
import { type Registry, Gauge } from 'prom-client';
import { type Accounts, createAccounts } from './accounts.ts';
import { buildIndex } from './build.ts';
import { LIVE } from './index-store.ts';
import { type Project, createProjection } from './projection.ts';
import { CONSUMER } from './replace.ts';

/** What the index is kept with. */
export interface IndexingOptions {
  readonly database: Pick<Database, 'query' | 'transact'>;
  /** The address of that database. */
  readonly url: string;
  /** The GraphQL address of the users subgraph; without it accounts are not searched. */
  readonly usersUrl: string | undefined;
  readonly feeds: readonly EventFeed[];
  readonly metrics: Registry;
  readonly log: Log;
}

/** How often this process looks for a requested build, and how long it waits after one that failed. */
const POLL_MS = 1000;
const AFTER_FAILURE_MS = 5000;

/** Starts the consumers. Every process of the subgraph may do it: each event takes effect once, and one process builds at a time. */
export function startIndexing(options: IndexingOptions): { readonly stop: () => Promise<void> } {
  const { database, usersUrl, feeds, log, metrics } = options;
  if (usersUrl === undefined) log.warn('accounts are not searched: EVENTS_URL_USERS is not set');
  const accounts = createAccounts({ url: usersUrl });
  const project = createProjection(accounts);
  const measured = measureLag(project, metrics);
  const request = () => {
    requestBuild(database).catch((error: unknown) => {
      log.error('cannot request a build of the search index', { error });
    });
  };
  const consumers = feeds.map((feed) =>
    consumeFeed({ feed, consumer: CONSUMER, database, log, metrics, handle: measured(feed.source), onGap: request }),
  );
  const stopping = new AbortController();
  const building = buildWhenRequested({ ...options, accounts, project }, stopping.signal);
  return {
    async stop() {
      stopping.abort();
      await Promise.all([building, ...consumers.map(({ stop }) => stop())]);
    },
  };
}

/** Requests a build, which one of the content processes makes. */
export async function requestBuild({ query }: Pick<Database, 'query'>): Promise<void> {
  await query('UPDATE "search_builds" SET "requestedAt" = clock_timestamp(), "failure" = NULL');
}

type BuildLoopOptions = IndexingOptions & { readonly accounts: Accounts; readonly project: Project };

/** As many failures to build are no error yet. */
const EXPECTED_FAILURES = 3;

async function buildWhenRequested(options: BuildLoopOptions, signal: AbortSignal): Promise<void> {
  const { database, log } = options;
  let failures = 0;
  while (!signal.aborted) {
    const pause = await buildIfRequested(options, signal).catch(async (error: unknown) => {
      if (signal.aborted) return POLL_MS;
      // The users subgraph may still be starting.
      log[++failures > EXPECTED_FAILURES ? 'error' : 'info']('the search index could not be built; trying again', { error });
      const failure = error instanceof Error ? error.message : String(error);
      await database.query('UPDATE "search_builds" SET "failure" = $1', [failure.slice(0, 500)]).catch(() => undefined);
      return AFTER_FAILURE_MS;
    });
    await delay(pause, undefined, { signal }).catch(() => undefined);
  }
}

async function buildIfRequested(options: BuildLoopOptions, signal: AbortSignal): Promise<number> {
  const [row] = await options.database.query<{ isDue: boolean }>(
    `SELECT "builtAt" IS NULL OR "builtAt" < "requestedAt" OR NOT search_has_keys() AS "isDue" FROM "search_builds"`,
  );
  if (row?.isDue) await buildIndex({ ...options, signal });
  return POLL_MS;
}

/** Returns handlers of events that measure how far the index is behind: the age of the oldest event that it has received and not written. */
function measureLag(project: Project, metrics: Registry) {
  const oldest = new Map<string, number>();
  new Gauge({
    name: 'trestle_search_lag_seconds',
    help: 'Age of the oldest event that was received and is not in the search index yet; 0 when there is none.',
    labelNames: ['source'],
    registers: [metrics],
    collect() {
      for (const [source, time] of oldest) this.set({ source }, Number.isNaN(time) ? 0 : Math.max(0, (Date.now() - time) / 1000));
    },
  });
  return (source: string): Parameters<typeof consumeFeed>[0]['handle'] => {
    oldest.set(source, NaN);
    return async (events, query) => {
      oldest.set(source, Date.parse(events[0]?.time ?? ''));
      await project(events, query, LIVE);
      oldest.set(source, NaN);
    };
  };
}
