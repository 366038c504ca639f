/**
 * Selects the rows of a table among which a search ranks, such as the newest matches (ADR 28). What the index cannot decide alone, such as whether words
 * are neighbours, is compared only in rows that it finds, and a query for the index is made so that it finds few others.
 */
import { type Sql, join, name, sql } from '../database/sql.ts';
import type { SearchQuery, SearchTerm } from './query.ts';
import { languageOf, toAlternative, toTsquery } from './tsquery.ts';

/** As many words of documents are read from the index in place of an incomplete word that begins them. */
const MAX_COMPLETIONS = 256;

/** The candidates of a search. */
export interface CandidateOptions {
  /** The table, which has the columns `id`, `createdAt` and `words`, and an index of the fields with keys. */
  readonly table: string;
  /** By set of candidates, the expressions that all match. Each set is found by the first one, which has only words of the others. */
  readonly fields: readonly (readonly string[])[];
  /** A condition that all candidates meet too, as a `tsquery`. */
  readonly also?: Sql | undefined;
  /** The weights of the words that match, such as `B` for bodies; all by default. */
  readonly weights?: string | undefined;
  /** Whether the table `search_words` has all words of the rows. */
  readonly isInWords?: boolean | undefined;
  /** As many of the matches are in each set. */
  readonly most: number;
  /** Whether these are the newest; by default they may be any. */
  readonly isSorted?: boolean | undefined;
  /** How many of the newest rows are searched first. By what they have the period of those that are searched next is chosen. */
  readonly first?: number | undefined;
}

const FIRST = 8192;

/** Returns the statement that selects the ids of the candidates, as strings. */
export function selectCandidates(query: SearchQuery, options: CandidateOptions): Sql {
  const { table, fields, also, weights = '', isInWords = false, most, isSorted = false, first = FIRST } = options;
  // A query without words finds nothing, whatever else is required.
  const within = (column: string) => {
    const matching = sql`q.${name(column)}`;
    return also ? sql`CASE WHEN numnode(${matching}) > 0 THEN ${matching} && ${also} ELSE ${matching} END` : matching;
  };
  const newest = (searched: readonly string[]) => sql`
    SELECT search_candidates(
      ${table}::text, ${[...searched]}::text[], ${within('matching')}, ${within('indexed')}, ${within('complete')}, q."pairs",
      ${most}::int, ${first}::int, ${isSorted}::boolean) AS "id"
    FROM "queries" q`;
  // Without its weight an excluded word would exclude rows that have it elsewhere.
  const indexed = (isComplete: boolean) => toIndexed(query, { isExcluding: weights === '', isInWords, isComplete });
  return sql`
    WITH "queries" AS MATERIALIZED (
      SELECT ${toTsquery(query, { weights })} AS "matching", ${indexed(false)} AS "indexed", ${indexed(true)} AS "complete",
        ${toPairs(query)} AS "pairs")
    ${join(fields.map(newest), ' UNION ')}`;
}

interface IndexedOptions {
  /** Whether the query excludes words. */
  readonly isExcluding: boolean;
  readonly isInWords: boolean;
  /** Whether the query has words of which the index reads much. */
  readonly isComplete: boolean;
}

/**
 * Returns the expression of a query that an index answers without a look at documents: all that match are among its results. It is NULL when
 * it would have to read too much, unless it is to be complete: an incomplete word that begins too many others is left out, if others remain.
 */
function toIndexed(query: SearchQuery, options: IndexedOptions): Sql {
  const language = languageOf(query);
  const { isComplete } = options;
  const alternatives = query.map((terms) => {
    const rest = terms.filter(({ isPrefix }) => isComplete || !isPrefix).map((term) => toIndexedTerm(term, language, options));
    const [prefix] = terms.filter(({ isPrefix }) => isPrefix && !isComplete).map((term) => toIndexedTerm(term, language, options));
    // An index of single words cannot exclude a phrase. What is left may be nothing, although most documents match.
    const others = terms.some(({ isPrefix, isExcluded }) => !isPrefix && !isExcluded) ? sql`(${join(rest, ' && ')})` : sql`NULL`;
    if (prefix) return sql`search_both(${prefix}, ${others})`;
    const whole = sql`(${join(rest, ' && ')})`;
    if (!terms.some(({ isExcluded }) => isExcluded)) return whole;
    return sql`CASE WHEN numnode(${whole}) > 0 OR numnode(${toAlternative(terms, language)}) = 0 THEN ${whole} END`;
  });
  return sql`(${join(alternatives, ' || ')})`;
}

function toIndexedTerm({ written, isExcluded, isPrefix, corrections }: SearchTerm, language: Sql, options: IndexedOptions): Sql {
  const words = [written, ...corrections].map((word) => sql`search_term(${word}::text, ${language})`);
  if (isExcluded) return options.isExcluding ? sql`search_without(${join(words, ' || ')})` : sql`''::tsquery`;
  const completions = options.isInWords ? sql`search_completions(${written}::text, ${MAX_COMPLETIONS}::int)` : sql`NULL::tsquery`;
  const prefix = options.isComplete ? sql`coalesce(${completions}, search_loosened(search_prefix(${written}::text)))` : completions;
  return sql`(search_loosened(${join(words, ' || ')})${isPrefix ? sql` || ${prefix}` : sql``})`;
}

/**
 * Returns the expression of the pairs of words that every match has because of the phrases of the query; NULL when there are none. A phrase of
 * nothing but stop words is no condition.
 */
function toPairs(query: SearchQuery): Sql {
  const language = languageOf(query);
  const pairsOf = (phrase: string) =>
    sql`CASE WHEN numnode(search_term(${phrase}::text, ${language})) > 0 THEN search_phrase(${phrase}::text) END`;
  const alternatives = query.map((terms) => {
    const phrases = terms.filter(({ isPhrase, isExcluded }) => isPhrase && !isExcluded);
    return phrases.map(({ written }) => pairsOf(written)).reduce((all, each) => sql`search_both(${all}, ${each})`, sql`NULL::tsquery`);
  });
  return sql`(${join(alternatives, ' || ')})`;
}
