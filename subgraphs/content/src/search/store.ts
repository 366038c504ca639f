/** The search index in PostgreSQL: finds the most relevant documents, and highlights what matches (ADR 28). */
import { type Sql, type SqlClient, all, name, raw, sql } from '@trestle/chassis/database/sql';
import type { Sorting } from '@trestle/chassis/paging/window';
import { RELEVANCE } from '@trestle/chassis/paging/window';
import { selectCandidates } from '@trestle/chassis/search/candidates';
import { MARKS, toHighlightParts } from '@trestle/chassis/search/highlight';
import type { SearchQuery } from '@trestle/chassis/search/query';
import { toScore, toTsquery } from '@trestle/chassis/search/tsquery';
import { createRowStore } from '@trestle/chassis/stores/row-store';
import { type Found, type Highlight, MAX_RESULTS, SEARCH_TYPES, type SearchScope, type SearchType, fieldsOf } from './rules.ts';

const SEARCH_SORTING: Sorting<'RELEVANCE'> = {
  list: 'search',
  columns: { RELEVANCE: { column: RELEVANCE, type: 'int4' } },
  default: { field: 'RELEVANCE', direction: 'DESC' },
};

/** The characters of a string in which matches are highlighted. Longer ones would take too long. */
const HIGHLIGHTED = 10_000;

/** The matches of a document's strings. */
export interface Highlights {
  readonly id: string;
  readonly highlights: readonly Highlight[];
}

export type SearchStore = ReturnType<typeof createSearchStore>;

export function createSearchStore(prisma: Pick<SqlClient, '$queryRaw'>) {
  const { connection } = createRowStore<Found, SearchScope, 'RELEVANCE'>({
    prisma,
    sorting: SEARCH_SORTING,
    rowsOf: (scope) => ({ table: 'search_documents', source: selectResults(scope), where: [] }),
  });

  return {
    connection,

    /** Returns what matches in these documents, in one statement. */
    async highlight(ids: readonly string[], query: SearchQuery): Promise<Highlights[]> {
      const rows = await prisma.$queryRaw<MarkedDocument[]>(selectMarked(ids, query));
      return rows.map(({ id, type, title, body }) => {
        const fields = fieldsOf(type);
        return { id, highlights: [...toHighlights(fields.title, title), ...toHighlights(fields.body, body)] };
      });
    },
  };
}

/** The newest matches, and the newest that match in their titles. */
export const CANDIDATES = {
  table: 'search_documents',
  fields: [['"words"'], ['"titleWords"', '"words"']],
  isInWords: true,
  isSorted: true,
} as const;

interface MarkedDocument {
  readonly id: string;
  readonly type: SearchType;
  readonly title: string | null;
  readonly body: string | null;
}

function toHighlights(field: Highlight['field'], marked: string | null): Highlight[] {
  const parts = toHighlightParts(marked ?? '');
  return parts.some(({ isMatch }) => isMatch) ? [{ field, parts }] : [];
}

/** Returns the statement of the results: the candidates that are still visible, the most relevant of which remain. */
function selectResults({ query, types }: SearchScope): Sql {
  return sql`
    SELECT t."id", t."type", ${toScore(query)} AS ${name(RELEVANCE)}
    FROM "search_documents" t
    WHERE ${all([sql`t."id" IN (${selectCandidates(query, { ...CANDIDATES, also: toTypes(types), most: MAX_RESULTS })})`, VISIBLE])}
    ORDER BY ${name(RELEVANCE)} DESC, t."id" DESC LIMIT ${MAX_RESULTS}::int`;
}

/** What was deleted or hidden after the index was written is no result. Of accounts only the users subgraph knows (ADR 3). */
const VISIBLE = sql`CASE t."type"
  WHEN 'POST' THEN EXISTS (SELECT FROM "posts" p WHERE p."id" = t."id" AND p."status" = 'PUBLISHED')
  WHEN 'COMMENT' THEN EXISTS (
    SELECT FROM "comments" c JOIN "posts" p ON p."id" = c."postId" WHERE c."id" = t."id" AND p."status" = 'PUBLISHED')
  ELSE true END`;

/** The index has the type of each document as a word that no parsed string contains. */
function toTypes(types: readonly SearchType[]): Sql | undefined {
  if (types.length === SEARCH_TYPES.length) return undefined;
  return sql`${raw(`'${types.map((type) => `''$${type}''`).join(' | ')}'`)}::tsquery`;
}

function selectMarked(ids: readonly string[], query: SearchQuery): Sql {
  const matching = toTsquery(query);
  return sql`
    SELECT t."id", t."type",
      ${mark(sql`coalesce(p."title", t."name")`, matching, 'HighlightAll=true')} AS "title",
      ${mark(sql`coalesce(p."body", c."body", t."bio")`, matching, 'MaxFragments=1, MinWords=10, MaxWords=30')} AS "body"
    FROM "search_documents" t
    LEFT JOIN "posts" p ON t."type" = 'POST' AND p."id" = t."id" AND p."status" = 'PUBLISHED'
    LEFT JOIN "comments" c ON t."type" = 'COMMENT' AND c."id" = t."id"
    WHERE t."id" = ANY(${[...ids]}::text[])`;
}

/** Marks a string in the language of its document, and as it is written if no stem of a word matches, as when a word is incomplete. */
function mark(string: Sql, query: Sql, options: string): Sql {
  const marks = `${options}, StartSel=${MARKS.start}, StopSel=${MARKS.stop}`;
  const written = sql`SELECT translate(left(${string}, ${HIGHLIGHTED}::int), ${MARKS.start + MARKS.stop}::text, '') AS "string" OFFSET 0`;
  const byLanguage = sql`
    SELECT w."string", ts_headline(search_language(t."words"), w."string", ${query}, ${marks}::text) AS "marked" FROM (${written}) w OFFSET 0`;
  return sql`(
    SELECT CASE WHEN strpos(m."marked", ${MARKS.start}::text) > 0 THEN m."marked"
      ELSE ts_headline('simple', m."string", ${query}, ${marks}::text) END FROM (${byLanguage}) m)`;
}
