/** The journal in PostgreSQL: the events of all subgraphs, by position (ADR 25). Functions of the migration append and sweep. */
import { type SqlClient, sql } from '@trestle/chassis/database/sql';
import type { Connection } from '@trestle/chassis/paging/connection';
import { fail } from '@trestle/schema/errors';
import { type ClientPosition, isSameHistory } from '@trestle/chassis/events/source-streams/client-position';
import { type Page, countEvents, selectEvents } from './readable-events.ts';
import { type EventScope, type JournalEvent, toCursor } from './rules.ts';

/** The positions that are kept: `newest` is the last event, and events before `oldest` were dropped. An empty journal has `newest` + 1 and `newest`. */
export interface JournalBounds {
  readonly oldest: number;
  readonly newest: number;
}

/** Where a page begins, and how many events it has. */
export interface JournalPage {
  readonly after: ClientPosition | undefined;
  readonly limit: number;
}

/** Reads events. */
export interface JournalStore {
  readonly bounds: () => Promise<JournalBounds>;
  /** Resolves with the id of the event at a position; undefined when none is stored there. */
  readonly findId: (position: number) => Promise<string | undefined>;
  /** Reads events behind a position, of all readers. */
  readonly read: (after: number, limit: number) => Promise<JournalEvent[]>;
  /** Reads events behind a position that belong to a scope. */
  readonly readScope: (scope: EventScope, after: number, limit: number) => Promise<JournalEvent[]>;
  /** Returns a page of events. Throws GONE when events behind `after` were dropped, or it is of another history. */
  readonly connection: (scope: EventScope, page: JournalPage) => Promise<Connection<JournalEvent>>;
  /** Drops days whose events are all older than these hours, at least 24. */
  readonly sweep: (hours: number) => Promise<void>;
}

const BOUNDS = sql`SELECT coalesce((SELECT min("position") FROM "journal"), h."position" + 1)::float8 AS "oldest",
  h."position"::float8 AS "newest" FROM "journal_head" h`;

/** Creates the store. */
export function createJournalStore(prisma: SqlClient): JournalStore {
  const read = (scope: EventScope | null, page: Page) => Promise.resolve(prisma.$queryRaw<JournalEvent[]>(selectEvents(scope, page)));
  const bounds = async (): Promise<JournalBounds> => (await prisma.$queryRaw<JournalBounds[]>(BOUNDS))[0] ?? { oldest: 1, newest: 0 };
  const findId: JournalStore['findId'] = async (position) =>
    (await prisma.$queryRaw<{ id: string }[]>(sql`SELECT "id" FROM "journal" WHERE "position" = ${position}::bigint`))[0]?.id;
  const count = async (scope: EventScope) => (await prisma.$queryRaw<{ count: number }[]>(countEvents(scope)))[0]?.count ?? 0;
  const requirePosition = async (after: ClientPosition, { oldest, newest }: JournalBounds) => {
    const isKept = after.position >= oldest - 1 && after.position <= newest;
    if (!isKept || !isSameHistory(after, await findId(after.position), oldest)) throw goneAfter(after.position);
  };
  return {
    bounds,
    findId,
    read: (after, limit) => read(null, { after, limit }),
    readScope: (scope, after, limit) => read(scope, { after, limit }),
    async connection(scope, { after, limit }) {
      const { oldest, newest } = await bounds();
      if (after) await requirePosition(after, { oldest, newest });
      const start = after?.position ?? oldest - 1;
      const events = await read(scope, { after: start, limit: limit + 1 });
      const page = events.slice(0, limit);
      const edges = page.map((node) => ({ cursor: toCursor(node), node }));
      const hasNextPage = events.length > limit;
      // Behind the last event of the journal nothing was selected, so that a reader need not look there again.
      const last = page.at(-1);
      const isEnd = last && (hasNextPage || last.position >= newest);
      const end = isEnd ? last : { position: newest, id: await findId(newest) };
      const pageInfo = {
        hasNextPage,
        hasPreviousPage: start > oldest - 1,
        startCursor: edges[0]?.cursor ?? null,
        endCursor: toCursor(end),
      };
      return { edges, pageInfo, countTotal: () => count(scope) };
    },
    async sweep(hours) {
      await prisma.$queryRaw(sql`SELECT "journal_sweep"(${hours}::int)`);
    },
  };
}

/** Returns the error of a reader that was away for too long. */
export function goneAfter(position: number) {
  return fail('GONE', `Events behind ${String(position)} are no longer available. Read the current state, then events without a position.`);
}
