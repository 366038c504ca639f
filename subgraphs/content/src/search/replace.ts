/** Puts a new search index in the place of the one that is searched, when it has what happened while it was built (ADR 28). */
import { setTimeout as delay } from 'node:timers/promises';
import type { Query } from '@trestle/chassis/database/query';
import type { DomainEvent, EventFeed } from '@trestle/chassis/events/feeds/domain-event';
import { followSignal } from '@trestle/http-client/follow-signal';
import type { Log } from '@trestle/log';
import { LIVE, NEXT } from './index-store.ts';
import type { Project } from './projection.ts';

/** The name under which the position of the index in each feed is stored. */
export const CONSUMER = 'search';

/** By feed, the position up to which its events are in the index. */
export type Positions = Map<string, string | undefined>;

/** What an index is replaced with. */
export interface ReplaceOptions {
  /** Runs statements on the connection of the build. */
  readonly query: Query;
  /** The positions of the new index, which are moved. */
  readonly positions: Positions;
  readonly feeds: readonly EventFeed[];
  readonly project: Project;
  /** When the build began. */
  readonly startedAt: Date | undefined;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const EVENTS = 1000;
/** A feed that has no more events than these is nearly read: under constant writes there is always another one. */
const FEW_EVENTS = 100;
/** A feed that has sent no event for this time counts as read to its end. */
const QUIET_MS = 500;
/** A backup reads the tables for as long as it takes. */
const MAX_WAIT_MS = 3_600_000;
const RETRY_MS = 1000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Projects into the new index what has happened since its build began, and swaps the tables. While a statement such as a backup uses the old
 * ones, both are repeated, for at most an hour.
 */
export async function replaceIndex(options: ReplaceOptions): Promise<void> {
  const { log, signal } = options;
  const deadline = performance.now() + MAX_WAIT_MS;
  for (let isFirst = true; ; isFirst = false) {
    await catchUp(options);
    try {
      await swap(options);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || performance.now() > deadline) throw error;
      if (isFirst) log.info('the new search index is complete, and waits until no statement uses the old one');
      await delay(RETRY_MS, undefined, { signal });
    }
  }
}

/** Projects events until few are left: the consumers project those after the swap, in milliseconds. */
async function catchUp({ query, positions, feeds, project, signal }: ReplaceOptions): Promise<void> {
  for (const feed of feeds) {
    for (;;) {
      const events = await readReady(feed, positions.get(feed.source), signal);
      if (events.length === 0) break;
      await project(events, query, NEXT);
      positions.set(feed.source, events.at(-1)?.position);
      if (events.length < FEW_EVENTS) break;
    }
  }
}

/** Returns the next events, or none when there is none for a while. */
async function readReady(feed: EventFeed, after: string | undefined, signal: AbortSignal): Promise<readonly DomainEvent[]> {
  const quiet = followSignal(signal, QUIET_MS);
  try {
    return await feed.read(after, EVENTS, quiet.signal);
  } catch (error) {
    if (quiet.signal.aborted && !signal.aborted) return [];
    throw error;
  } finally {
    quiet.end();
  }
}

/**
 * Replaces the tables, and sets back the position of the projection to that of the new ones, in one transaction. Its consumers notice
 * that their position has changed, and project again what came in between.
 */
async function swap({ query, positions, startedAt }: ReplaceOptions): Promise<void> {
  try {
    await query('BEGIN');
    // A consumer that is projecting has locked its position.
    await query(`SET LOCAL lock_timeout = '5s'`);
    for (const [source, position] of positions)
      await query(
        `INSERT INTO "feed_positions" ("consumer", "source", "position") VALUES ($1, $2, $3)
         ON CONFLICT ("consumer", "source") DO UPDATE SET "position" = excluded."position", "updatedAt" = now()`,
        [CONSUMER, source, position ?? null],
      );
    // Searches that come while the lock is waited for wait too.
    await query(`SET LOCAL lock_timeout = '250ms'`);
    for (const table of ['documents', 'words'] as const) {
      await query(`DROP TABLE "${LIVE[table]}"`);
      await query(`ALTER TABLE "${NEXT[table]}" RENAME TO "${LIVE[table]}"`);
    }
    await query('UPDATE "search_builds" SET "builtAt" = $1', [startedAt]);
    await query('COMMIT');
  } catch (error) {
    await query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}
