/** Corrects misspelt words of a query by the words that documents have (table `search_words`). */
import { type Sql, type SqlClient, sql } from '../database/sql.ts';
import { type SearchQuery, type SearchTerm, termsOf } from './query.ts';
import { closestTo, isCorrectable, swapsOf } from './spelling.ts';

/** Corrects queries. */
export interface Corrections {
  /** Returns the query with corrections of each word that no document has. Phrases and excluded words stay as they are. */
  readonly correct: (query: SearchQuery) => Promise<SearchQuery>;
}

interface UnknownWord {
  readonly word: string;
  readonly candidates: readonly string[];
}

/** As many words are compared with each misspelt one. */
const MAX_CANDIDATES = 50;

/** Creates the corrections of a database. It runs at most one statement for each query, and one more at the first. */
export function createCorrections(prisma: Pick<SqlClient, '$queryRaw'>): Corrections {
  let isEnabled: Promise<boolean> | undefined;
  const hasTrigrams = () =>
    (isEnabled ??= readIsEnabled(prisma).catch((error: unknown) => {
      isEnabled = undefined;
      throw error;
    }));
  return {
    async correct(query) {
      const words = [...new Set(termsOf(query).flatMap(toCorrectable))];
      if (words.length === 0 || !(await hasTrigrams())) return query;
      const prefix =
        termsOf(query)
          .find(({ isPrefix }) => isPrefix)
          ?.written.toLowerCase() ?? '';
      const unknown = new Map(
        (await prisma.$queryRaw<UnknownWord[]>(selectUnknown(words, prefix))).map((each) => [each.word, each.candidates]),
      );
      const correctTerm = (term: SearchTerm): SearchTerm => {
        const [word] = toCorrectable(term);
        const candidates = word === undefined ? undefined : unknown.get(word);
        return word === undefined || !candidates ? term : { ...term, corrections: closestTo(word, candidates) };
      };
      return query.map((terms) => terms.map(correctTerm));
    },
  };
}

/** Without the extension pg_trgm words are not corrected; see the migration. */
async function readIsEnabled(prisma: Pick<SqlClient, '$queryRaw'>): Promise<boolean> {
  const rows = await prisma.$queryRaw<{ isEnabled: boolean }[]>(
    sql`SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') AS "isEnabled"`,
  );
  return rows[0]?.isEnabled === true;
}

function toCorrectable({ written, isPhrase, isExcluded }: SearchTerm): string[] {
  const word = written.toLowerCase();
  return !isPhrase && !isExcluded && isCorrectable(word) ? [word] : [];
}

/** Returns the words that no document has, each with similar ones that some document has. `prefix` is known if any word begins with it. */
function selectUnknown(words: readonly string[], prefix: string): Sql {
  const swaps = words.flatMap((word) => swapsOf(word).map((swapped) => ({ word, swapped })));
  return sql`
    SELECT u."word", ARRAY(
      SELECT s."swapped" FROM unnest(${swaps.map(({ word }) => word)}::text[], ${swaps.map(({ swapped }) => swapped)}::text[]) s("word", "swapped")
      JOIN "search_words" v ON v."word" = s."swapped" WHERE s."word" = u."word"
    ) || ARRAY(
      SELECT v."word" FROM "search_words" v
      WHERE v."word" % u."word" ORDER BY similarity(v."word", u."word") DESC, v."word" LIMIT ${MAX_CANDIDATES}::int
    ) AS "candidates"
    FROM unnest(${[...words]}::text[]) u("word")
    WHERE NOT EXISTS (SELECT FROM "search_words" v WHERE v."word" = ANY(search_lexemes(u."word")))
      AND NOT (u."word" = ${prefix}::text AND EXISTS (
        SELECT FROM "search_words" v WHERE v."word" >= ${prefix}::text AND v."word" < ${prefix}::text || chr(1114111)))`;
}
