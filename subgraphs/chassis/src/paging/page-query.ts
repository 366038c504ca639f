/** Writes the one SQL statement that reads a window of a table, for one list or for many at once. No I/O. */
import { type Sql, join, raw, sqltag as sql } from '@prisma/client/runtime/client';
import type { Position, SortKey, Window } from './window.ts';

export { sql, join, raw, type Sql };

export interface PageQuery {
  readonly table: string;
  /** Conditions that must all hold; the table goes by the name `t`. */
  readonly where: readonly Sql[];
  /** A condition on words, which may be anywhere or nowhere; PostgreSQL can't know how rare they are. */
  readonly search?: Sql | undefined;
  readonly window: Window;
}

type Rows = Omit<PageQuery, 'window'>;

/** Up to so many rows of a search are found first and then sorted; of more, some are met soon on a walk along the order. */
const FEW = 1000;

/**
 * Reads the window's rows and one more, which tells whether there is a further page (see connection.ts). Behind a cursor the rows lie in
 * several stretches of the index, such as "the same role and a later id" and "a later role": each is read from its own beginning, so
 * that a page deep inside costs what the first one does.
 */
export function selectPage({ table, where, search, window }: PageQuery): Sql {
  if (!search) return selectWindow({ table, where, window });
  const few = sql`SELECT t."id" FROM ${name(table)} t WHERE ${search} LIMIT ${FEW + 1}::int`;
  const found = sql`t."id" IN (SELECT "id" FROM few) AND (SELECT count(*) FROM few) <= ${FEW}::int`;
  const met = sql`${search} AND (SELECT count(*) FROM few) > ${FEW}::int`;
  const pages = [found, met].map((way) => sql`(SELECT * FROM (${selectWindow({ table, where: [way, ...where], window })}) t)`);
  return sql`WITH few AS MATERIALIZED (${few}) SELECT t.* FROM (${join(pages, ' UNION ALL ')}) t ORDER BY ${ordering(window)}`;
}

function selectWindow({ table, where, window }: Omit<PageQuery, 'search'>): Sql {
  const { after, before, order, limit, offset } = window;
  const count = sql`${limit + 1}::int`;
  const read = (stretch: readonly Sql[]) =>
    sql`SELECT t.* FROM ${name(table)} t WHERE ${all([...stretch, ...where])} ORDER BY ${ordering(window)}`;
  const position = after ?? before;
  if (!position) return sql`${read([])} LIMIT ${count} OFFSET ${offset}::int`;
  const most = sql`${limit + 1 + offset}::int`;
  const limits = after && before ? [any(stretches(order, before, true))] : [];
  const parts = stretches(order, position, !after).map((stretch) => sql`(${read([stretch, ...limits])} LIMIT ${most})`);
  return sql`SELECT t.* FROM (${join(parts, ' UNION ALL ')}) t ORDER BY ${ordering(window)} LIMIT ${count} OFFSET ${offset}::int`;
}

/**
 * Reads the same window for many parents in one statement (no N+1): each row has its parent's key in the column `by`.
 * The index on (`by`, order) serves each parent by itself.
 */
export function selectPages({ table, where, search, window }: PageQuery, { by, keys }: { by: string; keys: readonly string[] }): Sql {
  const page = selectWindow({ table, where: [sql`t.${name(by)} = parent.key`, ...where, ...given(search, (words) => words)], window });
  return sql`SELECT t.* FROM unnest(${keys}::text[]) WITH ORDINALITY AS parent(key, place) CROSS JOIN LATERAL (${page}) t ORDER BY parent.place, ${ordering(window)}`;
}

/** Counts all rows that hold, whatever the window. */
export function countRows({ table, where, search }: Rows): Sql {
  return sql`SELECT count(*)::int AS count FROM ${name(table)} t WHERE ${all([...where, ...given(search, (words) => words)])}`;
}

/** Counts all rows that hold for each parent; a parent without any has no row. */
export function countRowsBy({ table, where, search }: Rows, { by, keys }: { by: string; keys: readonly string[] }): Sql {
  return sql`SELECT t.${name(by)} AS key, count(*)::int AS count FROM ${name(table)} t WHERE ${all([sql`t.${name(by)} = ANY(${keys}::text[])`, ...where, ...given(search, (words) => words)])} GROUP BY 1`;
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

function any(conditions: readonly Sql[]): Sql {
  return conditions.length > 0 ? sql`(${join([...conditions], ' OR ')})` : sql`false`;
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

/**
 * The rows that stand behind a position in the order, or before it when `reversed`, as conditions that exclude each other: equal in the
 * first keys and beyond in the next. Rows without a value stand last.
 */
function stretches(order: readonly SortKey[], position: Position, reversed: boolean): Sql[] {
  return order.flatMap((key, i) => {
    const equal = order.slice(0, i).map((earlier, at) => same(earlier, position[at]));
    return beyond(key, position[i], reversed).map((past) => all([...equal, past]));
  });
}

function same({ column, type }: SortKey, value: Position[number] | undefined): Sql {
  return value === null || value === undefined ? sql`t.${name(column)} IS NULL` : sql`t.${name(column)} = ${value}::${raw(type)}`;
}

function beyond({ column, type, descending, nullable }: SortKey, value: Position[number] | undefined, reversed: boolean): Sql[] {
  if (value === null || value === undefined) return reversed ? [sql`t.${name(column)} IS NOT NULL`] : [];
  const past = sql`t.${name(column)} ${raw(descending === reversed ? '>' : '<')} ${value}::${raw(type)}`;
  return nullable && !reversed ? [past, sql`t.${name(column)} IS NULL`] : [past];
}
