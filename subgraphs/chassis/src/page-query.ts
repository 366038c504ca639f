/** Writes the one SQL statement that reads a window of a table, for one list or for many at once. No I/O. */
import { type Sql, empty, join, raw, sqltag as sql } from '@prisma/client/runtime/client';
import type { Position, SortKey, Window } from './window.ts';

export { sql, join, raw, empty, type Sql };

export interface PageQuery {
  readonly table: string;
  /** Conditions that must all hold; the table goes by the name `t`. */
  readonly where: readonly Sql[];
  readonly window: Window;
}

/** Reads the window's rows and one more, which tells whether there is a further page (see connection.ts). */
export function selectPage({ table, where, window }: PageQuery): Sql {
  const rows = sql`SELECT t.* FROM ${name(table)} t WHERE ${conditions(where, window)}`;
  return sql`${rows} ORDER BY ${ordering(window)} LIMIT ${window.limit + 1}::int OFFSET ${window.offset}::int`;
}

/**
 * Reads the same window for many parents in one statement (no N+1): each row has its parent's key in the column `by`.
 * The index on (`by`, order) serves each parent by itself.
 */
export function selectPages({ table, where, window }: PageQuery, { by, keys }: { by: string; keys: readonly string[] }): Sql {
  const page = selectPage({ table, where: [sql`t.${name(by)} = parent.key`, ...where], window });
  return sql`SELECT t.* FROM unnest(${keys}::text[]) WITH ORDINALITY AS parent(key, place) CROSS JOIN LATERAL (${page}) t ORDER BY parent.place, ${ordering(window)}`;
}

/** Counts all rows that hold, whatever the window. */
export function countRows({ table, where }: Pick<PageQuery, 'table' | 'where'>): Sql {
  return sql`SELECT count(*)::int AS count FROM ${name(table)} t WHERE ${all(where)}`;
}

/** Counts all rows that hold for each parent; a parent without any has no row. */
export function countRowsBy(
  { table, where }: Pick<PageQuery, 'table' | 'where'>,
  { by, keys }: { by: string; keys: readonly string[] },
): Sql {
  return sql`SELECT t.${name(by)} AS key, count(*)::int AS count FROM ${name(table)} t WHERE ${all([sql`t.${name(by)} = ANY(${keys}::text[])`, ...where])} GROUP BY 1`;
}

/** Quotes the name of a table or column. Names come from our own code; nothing of a client's ever gets here. */
export function name(identifier: string): Sql {
  return raw(`"${identifier.replaceAll('"', '""')}"`);
}

/** A condition for each part of a filter that was given. */
export function given<T>(value: T | null | undefined, condition: (value: T) => Sql): Sql[] {
  return value === null || value === undefined ? [] : [condition(value)];
}

/** A pattern for `ILIKE` that finds the text itself wherever it stands. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

function all(where: readonly Sql[]): Sql {
  return where.length > 0 ? join([...where], ' AND ') : sql`true`;
}

function conditions(where: readonly Sql[], { order, after, before }: Window): Sql {
  return all([...where, ...(after ? [beyond(order, after, false)] : []), ...(before ? [beyond(order, before, true)] : [])]);
}

/** A window from the end is read in reverse order; connection.ts turns it round again. */
function ordering({ order, backward }: Window): Sql {
  const keys = order.map(({ column, descending, nullable }) => {
    const direction = descending === backward ? 'ASC' : 'DESC';
    const nulls = nullable ? (backward ? ' NULLS FIRST' : ' NULLS LAST') : '';
    return sql`t.${name(column)} ${raw(direction + nulls)}`;
  });
  return join(keys, ', ');
}

/** The rows that stand behind a position in the order, or before it when `reversed`. Rows without a value stand last. */
function beyond(order: readonly SortKey[], position: Position, reversed: boolean): Sql {
  const [key, ...rest] = order;
  if (!key) return sql`false`;
  const [value, ...values] = position;
  const column = sql`t.${name(key.column)}`;
  const further = beyond(rest, values, reversed);
  if (value === null || value === undefined) {
    return reversed ? sql`(${column} IS NOT NULL OR ${further})` : sql`(${column} IS NULL AND ${further})`;
  }
  const at = sql`${value}::${raw(key.type)}`;
  const past = sql`${column} ${raw(key.descending === reversed ? '>' : '<')} ${at}`;
  const nulls = key.nullable && !reversed ? sql` OR ${column} IS NULL` : empty;
  // The outer comparison, though implied, lets PostgreSQL begin at the right place of the index.
  const bound = key.nullable ? empty : sql`${column} ${raw(key.descending === reversed ? '>=' : '<=')} ${at} AND `;
  return sql`(${bound}(${past}${nulls} OR (${column} = ${at} AND ${further})))`;
}
