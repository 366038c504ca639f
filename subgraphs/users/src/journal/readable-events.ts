/**
 * Builds the statements that read the events of a scope. Along the positions alone, a reader with few events would read all those of others;
 * so the events are read in parts, of which each is a range of an index. Every part asks "may_learn" again. No I/O.
 */
import { type Sql, all, given, join, sql } from '@trestle/chassis/database/sql';
import type { Audience } from '@trestle/schema/event-types';
import type { EventScope } from './rules.ts';

/** Where a page begins, and how many events it has. */
export interface Page {
  readonly after: number;
  readonly limit: number;
}

/** A part of the events of a scope. */
interface Part {
  readonly conditions: readonly Sql[];
  /** The families and audiences that it has, each with each; all of them when absent. */
  readonly families?: Families;
}

interface Families {
  readonly names: readonly string[];
  readonly audiences: readonly Audience[];
}

/** Selects the events that meet conditions. */
type Select = (conditions: readonly Sql[]) => Sql;

const COLUMNS = sql`j."position"::float8 AS "position", j."id", j."type", j."source", j."subject", j."ownerId", j."audience", j."data", j."time"`;
const FAMILY = sql`split_part(j."type", '.', 1)`;
const OPEN: readonly Audience[] = ['PUBLIC', 'USER'];
const AUDIENCES: readonly Audience[] = [...OPEN, 'OWNER', 'ADMIN'];
/** The families whose events moderators learn of, as in "may_learn". */
const MODERATED = ['post', 'comment'];

/** Returns the statement that reads a page of events that belong to a scope, or of those of all readers. */
export function selectEvents(scope: EventScope | null, { after, limit }: Page): Sql {
  const select: Select = (conditions) => sql`
    SELECT ${COLUMNS} FROM "journal" j WHERE j."position" > ${after}::bigint AND ${all(conditions)}
    ORDER BY j."position" LIMIT ${limit}::int`;
  if (!scope) return select([]);
  return sql`SELECT * FROM (${unionOf(partsOf(scope), select)}) e ORDER BY e."position" LIMIT ${limit}::int`;
}

/** Returns the statement that counts the events that belong to a scope. */
export function countEvents(scope: EventScope): Sql {
  const count: Select = (conditions) => sql`SELECT count(*) AS "count" FROM "journal" j WHERE ${all(conditions)}`;
  return sql`SELECT coalesce(sum(e."count"), 0)::int AS "count" FROM (${unionOf(partsOf(scope), count)}) e`;
}

/** Returns the parts of a scope, none of which have an event in common. */
function partsOf({ userId, role, types }: EventScope): Part[] {
  const conditions = [
    sql`"may_learn"(j."audience", j."type", j."ownerId", ${userId}, ${role})`,
    ...given(types, (names) => sql`"type_patterns"(j."type") && ${[...names]}::text[]`),
  ];
  const selected = types === null || types.includes('*') ? null : [...new Set(types.map((type) => type.split('.')[0] ?? ''))];
  if (role === 'ADMIN') return [{ conditions, ...(selected && { families: { names: selected, audiences: AUDIENCES } }) }];
  const open: Part = selected
    ? { conditions, families: { names: selected, audiences: OPEN } }
    : { conditions: [sql`j."audience" IN ('PUBLIC', 'USER')`, ...conditions] };
  const own = [sql`j."audience" = 'OWNER' AND j."ownerId" = ${userId}`, ...conditions];
  if (role === 'USER') return [open, { conditions: own }];
  const moderated = MODERATED.filter((name) => selected?.includes(name) ?? true);
  return [
    open,
    { conditions: [sql`NOT ${FAMILY} = ANY(${MODERATED}::text[])`, ...own] },
    { conditions, families: { names: moderated, audiences: ['OWNER'] } },
  ];
}

function unionOf(parts: readonly Part[], select: Select): Sql {
  const selected = parts.map(({ families, conditions }) => (families ? selectFamilies(families, conditions, select) : select(conditions)));
  return join(
    selected.map((part) => sql`(${part})`),
    ' UNION ALL ',
  );
}

/** Selects from one range of the index for each family and audience: only within such a range events have the order of their positions. */
function selectFamilies({ names, audiences }: Families, conditions: readonly Sql[], select: Select): Sql {
  return sql`
    SELECT e.* FROM unnest(${[...names]}::text[]) f("name") CROSS JOIN unnest(${[...audiences]}::text[]) a("audience")
    CROSS JOIN LATERAL (${select([sql`${FAMILY} = f."name" AND j."audience" = a."audience"`, ...conditions])}) e`;
}
