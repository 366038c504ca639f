/** Builds the one SQL statement that reads a window of a table, for one list or for the lists of many parents. No I/O. */
import { type Sql, all, any, given, join, name, raw, sql } from '../database/sql.ts';
import { type Position, RELEVANCE, type SortKey, type Window } from './window.ts';

/** The rows of a list: a table, whose alias is `t`, and the conditions that all of them meet. */
export interface RowSet {
  readonly table: string;
  /** A subquery to read in place of the table. */
  readonly source?: Sql;
  /** The columns to read, by default all; they contain every column of the order. */
  readonly columns?: readonly string[];
  readonly where: readonly Sql[];
  /** What the rows are searched for. It stands apart because PostgreSQL cannot estimate how many rows match it. */
  readonly search?: Search | undefined;
}

/** A full-text condition on the rows of a list. */
export interface Search {
  readonly condition: Sql;
  /** The relevance of a row, an integer. Rows can be sorted by it when it is present. */
  readonly score?: Sql;
  /** Returns a statement that selects the column `id` of all rows that meet the condition, or of any so many when there are more. */
  readonly selectMatches?: (most: number) => Sql;
  /** The same, but the newest when there are more: by `createdAt` and `id`, both descending. */
  readonly selectNewest?: (most: number) => Sql;
}

/** A window on the rows of a list. */
export interface PageQuery extends RowSet {
  readonly window: Window;
}

/** The parents of many lists that are read at once: the column that holds a row's parent, and the parents' keys. */
export interface Parents {
  readonly by: string;
  readonly keys: readonly string[];
}

/** Up to this many matches of a search are found first and then sorted; with more, a scan in sort order soon meets some. */
const FEW = 1000;

const IS_FEW = sql`(SELECT count(*) FROM few) <= ${FEW}::int`;
const IN_FEW = sql`t."id" IN (SELECT "id" FROM few)`;

/**
 * Returns the statement that reads the rows of the window and one more, which shows whether there is a further page (see connection.ts).
 * Behind a cursor the rows lie in several ranges of the index, such as "the same role and a greater id" and "a greater role". Each
 * range is read from its own start, so that a page deep inside costs what the first one does.
 * Sorted by relevance, more than a few matches are equally relevant: they come in the order of the next sort key.
 */
export function selectPage({ search, window, ...rows }: PageQuery): Sql {
  const { table, where } = rows;
  if (!search) return selectWindow({ ...rows, window });
  const {
    condition,
    score,
    selectNewest,
    selectMatches = (most) => sql`SELECT t."id" FROM ${name(table)} t WHERE ${condition} LIMIT ${most}::int`,
  } = search;
  const isRanked = score !== undefined && window.order.some(({ column }) => column === RELEVANCE);
  const selectPart = (found: Sql, relevance: Sql | undefined) => {
    const source = isRanked && relevance ? { source: withRelevance(rows, found, relevance) } : {};
    return sql`SELECT * FROM (${selectWindow({ ...rows, ...source, where: isRanked ? where : [found, ...where], window })}) t`;
  };
  const ranked = selectPart(sql`${IN_FEW} AND ${IS_FEW}`, score);
  const scanned = (unless: Sql) => selectPart(sql`${condition} AND NOT ${IS_FEW} AND NOT ${unless}`, sql`0`);
  if (!selectNewest || !isNewestFirst(window))
    return sql`WITH few AS MATERIALIZED (${selectMatches(FEW + 1)}) ${union([ranked, scanned(sql`false`)], window)}`;
  // A scan would compare all that is newer than the matches.
  const isPage = sql`(SELECT count(*) FROM newest) > ${window.limit}::int`;
  const parts = [ranked, sql`SELECT * FROM newest WHERE ${isPage}`, scanned(isPage)];
  return sql`
    WITH few AS MATERIALIZED (${selectNewest(FEW + 1)}), newest AS MATERIALIZED (${selectPart(sql`${IN_FEW} AND NOT ${IS_FEW}`, sql`0`)})
    ${union(parts, window)}`;
}

function union(parts: readonly Sql[], window: Window): Sql {
  const all = parts.map((part) => sql`(${part})`);
  return sql`SELECT t.* FROM (${join(all, ' UNION ALL ')}) t ORDER BY ${orderBy(window)}`;
}

function isNewestFirst({ order, backward }: Window): boolean {
  const columns = order.filter(({ column }) => column !== RELEVANCE).map(({ column, descending }) => descending && column);
  return !backward && columns.join() === 'createdAt,id';
}

function withRelevance(rows: RowSet, found: Sql, relevance: Sql): Sql {
  return sql`SELECT ${columnsOf(rows)}, ${relevance} AS ${name(RELEVANCE)} FROM ${name(rows.table)} t WHERE ${found}`;
}

function selectWindow({ window, ...rows }: Omit<PageQuery, 'search'>): Sql {
  const { after, before, order, limit, offset } = window;
  const count = sql`${limit + 1}::int`;
  const read = (range: readonly Sql[]) => sql`${selectFrom(rows)} WHERE ${all([...range, ...rows.where])} ORDER BY ${orderBy(window)}`;
  const position = after ?? before;
  if (!position) return sql`${read([])} LIMIT ${count} OFFSET ${offset}::int`;
  const most = sql`${limit + 1 + offset}::int`;
  const limits = after && before ? [any(rangesBehind(order, before, true))] : [];
  const parts = rangesBehind(order, position, !after).map((range) => sql`(${read([range, ...limits])} LIMIT ${most})`);
  return sql`SELECT t.* FROM (${join(parts, ' UNION ALL ')}) t ORDER BY ${orderBy(window)} LIMIT ${count} OFFSET ${offset}::int`;
}

/**
 * Returns the statement that reads the same window for many parents (no N+1): each row has its parent's key in the column `by`.
 * An index on (`by`, order) serves each parent on its own.
 */
export function selectPages({ window, ...rows }: PageQuery, { by, keys }: Parents): Sql {
  const where = [sql`t.${name(by)} = parent.key`, ...conditionsOf(rows)];
  const page = selectWindow({ ...rows, where, window });
  return sql`SELECT t.* FROM unnest(${keys}::text[]) WITH ORDINALITY AS parent(key, place) CROSS JOIN LATERAL (${page}) t ORDER BY parent.place, ${orderBy(window)}`;
}

/** Returns the statement that reads the rows with these ids. */
export function selectByIds(rows: RowSet, ids: readonly string[]): Sql {
  return sql`${selectFrom(rows)} WHERE ${all([sql`t."id" = ANY(${ids}::text[])`, ...conditionsOf(rows)])}`;
}

/** Returns the statement that counts all rows of a list, whatever the window. */
export function countRows(rows: RowSet): Sql {
  return sql`SELECT count(*)::int AS count FROM ${rows.source ? sql`(${rows.source})` : name(rows.table)} t WHERE ${all(conditionsOf(rows))}`;
}

/** Returns the statement that counts the rows of each parent; it returns no row for a parent without rows. */
export function countRowsBy(rows: RowSet, { by, keys }: Parents): Sql {
  return sql`SELECT t.${name(by)} AS key, count(*)::int AS count FROM ${name(rows.table)} t WHERE ${all([sql`t.${name(by)} = ANY(${keys}::text[])`, ...conditionsOf(rows)])} GROUP BY 1`;
}

function selectFrom(rows: RowSet): Sql {
  return rows.source ? sql`SELECT t.* FROM (${rows.source}) t` : sql`SELECT ${columnsOf(rows)} FROM ${name(rows.table)} t`;
}

function columnsOf({ columns }: RowSet): Sql {
  if (!columns) return sql`t.*`;
  return join(
    columns.map((column) => sql`t.${name(column)}`),
    ', ',
  );
}

function conditionsOf({ where, search }: RowSet): Sql[] {
  return [...where, ...given(search, ({ condition }) => condition)];
}

/** A window from the end is read in reverse order; connection.ts reverses it again. */
function orderBy({ order, backward }: Window): Sql {
  const keys = order.map(({ column, descending, nullable }) => {
    const direction = descending === backward ? 'ASC' : 'DESC';
    const nulls = nullable ? (backward ? ' NULLS FIRST' : ' NULLS LAST') : '';
    return sql`t.${name(column)} ${raw(direction + nulls)}`;
  });
  return join(keys, ', ');
}

/**
 * Returns the rows behind a position in the order, or before it when `reversed`, as conditions that exclude each other: equal in the
 * first keys and beyond in the next. Rows without a value come last.
 */
function rangesBehind(order: readonly SortKey[], position: Position, reversed: boolean): Sql[] {
  return order.flatMap((key, i) => {
    const equal = order.slice(0, i).map((earlier, at) => equals(earlier, position[at]));
    return beyond(key, position[i], reversed).map((past) => all([...equal, past]));
  });
}

function equals({ column, type }: SortKey, value: Position[number] | undefined): Sql {
  return value === null || value === undefined ? sql`t.${name(column)} IS NULL` : sql`t.${name(column)} = ${value}::${raw(type)}`;
}

function beyond({ column, type, descending, nullable }: SortKey, value: Position[number] | undefined, reversed: boolean): Sql[] {
  if (value === null || value === undefined) return reversed ? [sql`t.${name(column)} IS NOT NULL`] : [];
  const past = sql`t.${name(column)} ${raw(descending === reversed ? '>' : '<')} ${value}::${raw(type)}`;
  return nullable && !reversed ? [past, sql`t.${name(column)} IS NULL`] : [past];
}
