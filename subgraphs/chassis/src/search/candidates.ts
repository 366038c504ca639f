/**
 * Selects the rows of a table among which a search ranks, such as the newest matches (ADR 28). What the index cannot decide alone, such as whether words
 * are neighbours, is compared only in rows that it finds, and a query for the index is made so that it finds few others.
 */
import { type Sql, join, name, sql } from '../database/sql.ts';
import { type SearchQuery, type SearchTerm, termsOf } from './query.ts';
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
  /** Whether that table has the words of most rows, such as of all but the newest and those that are not public. */
  readonly isMostlyInWords?: boolean | undefined;
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
  const { table, fields, also, weights = '', isInWords = false, isMostlyInWords = false } = options;
  const { most, isSorted = false, first = FIRST } = options;
  const isGuessed = isMostlyInWords && termsOf(query).some(({ isPrefix }) => isPrefix);
  // A query without words finds nothing, whatever else is required.
  const within = (column: string) => {
    const matching = sql`q.${name(column)}`;
    return also ? sql`CASE WHEN numnode(${matching}) > 0 THEN ${matching} && ${also} ELSE ${matching} END` : matching;
  };
  const newest = (searched: readonly string[]) => sql`
    SELECT search_candidates(
      ${table}::text, ${[...searched]}::text[], ${within('matching')}, ${within('indexed')}, ${within('complete')}, ${within('likely')},
      q."pairs", ${most}::int, ${first}::int, ${isSorted}::boolean) AS "id"
    FROM "queries" q`;
  // Without its weight an excluded word would exclude rows that have it elsewhere.
  const indexed = (prefixes: Prefixes) => toIndexed(query, { isExcluding: weights === '', isInWords, prefixes });
  return sql`
    WITH "queries" AS MATERIALIZED (
      SELECT ${toTsquery(query, { weights })} AS "matching", ${indexed('left out')} AS "indexed", ${indexed('read')} AS "complete",
        ${isGuessed ? indexed('completed') : sql`NULL::tsquery`} AS "likely", ${toPairs(query)} AS "pairs")
    ${join(fields.map(newest), ' UNION ')}`;
}

/**
 * What becomes of an incomplete word. It is left out if it begins too many words and others remain; or it is completed by the words of public
 * documents, of which rows may have others; or the index reads whatever begins with it.
 */
type Prefixes = 'left out' | 'completed' | 'read';

interface IndexedOptions {
  /** Whether the query excludes words. */
  readonly isExcluding: boolean;
  readonly isInWords: boolean;
  readonly prefixes: Prefixes;
}

/**
 * Returns the expression of a query that an index answers without a look at documents: all that match are among its results, unless incomplete
 * words are completed. It is NULL when nothing is left of the query, or when an incomplete word has too many completions.
 */
function toIndexed(query: SearchQuery, options: IndexedOptions): Sql {
  const language = languageOf(query);
  const isLeftOut = options.prefixes === 'left out';
  const alternatives = query.map((terms) => {
    const rest = terms.filter(({ isPrefix }) => !isLeftOut || !isPrefix).map((term) => toIndexedTerm(term, language, options));
    const [prefix] = terms.filter(({ isPrefix }) => isPrefix && isLeftOut).map((term) => toIndexedTerm(term, language, options));
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
  const completions =
    options.isInWords || options.prefixes === 'completed'
      ? sql`search_completions(${written}::text, ${MAX_COMPLETIONS}::int)`
      : sql`NULL::tsquery`;
  const prefix =
    options.prefixes === 'read' ? sql`coalesce(${completions}, search_loosened(search_prefix(${written}::text)))` : completions;
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
