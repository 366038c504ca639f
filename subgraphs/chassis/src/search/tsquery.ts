/** Converts a query to PostgreSQL's `tsquery`. Every word is a parameter: no string of a client becomes SQL or query syntax. No I/O. */
import { type Sql, join, sql } from '../database/sql.ts';
import { type SearchQuery, type SearchTerm, termsOf } from './query.ts';

/** Which words match. */
export interface TsqueryOptions {
  /** Whether only whole words match that are written as in the query, and their other inflections: neither prefixes nor corrections. */
  readonly isExact?: boolean;
  /** The weights of the words that match, such as `A` for titles; all by default. */
  readonly weights?: string;
}

/** Returns the expression of a `tsquery`, which PostgreSQL evaluates once, when it plans the statement. */
export function toTsquery(query: SearchQuery, { isExact = false, weights = '' }: TsqueryOptions = {}): Sql {
  const language = languageOf(query);
  const alternatives = query.map((terms) => toAlternative(terms, language, isExact));
  const whole = join(alternatives, ' || ');
  return weights === '' ? sql`(${whole})` : sql`search_within((${whole}), ${weights}::text)`;
}

/** Returns the relevance of the column `words` as an integer: that of whole words counts twice. */
export function toScore(query: SearchQuery): Sql {
  // 1 divides by the logarithm of the document's length. Integers compare alike in every statement, as cursors need it.
  const rank = (options: TsqueryOptions) => sql`ts_rank(t."words", ${toTsquery(query, options)}, 1)`;
  // A query without prefixes and corrections has only whole words: both ranks are the same, and take long to compute.
  const isWhole = termsOf(query).every(({ isPrefix, corrections }) => !isPrefix && corrections.length === 0);
  return isWhole ? sql`(2 * ${rank({})} * 1000000)::int` : sql`((${rank({ isExact: true })} + ${rank({})}) * 1000000)::int`;
}

/** Returns the expression of the `tsquery` of one alternative of a query in this language. */
export function toAlternative(terms: SearchQuery[number], language: Sql, isExact = false): Sql {
  const parts = terms.map((term) => sql`(${toTermQuery(term, language, isExact)})`);
  return sql`(${join(parts, ' && ')})`;
}

/** Returns the language of the query, whose stop words need not occur. */
export function languageOf(query: SearchQuery): Sql {
  const written = termsOf(query)
    .map((term) => term.written)
    .join(' ');
  return sql`search_language(to_tsvector('simple', ${written}::text))`;
}

function toTermQuery({ written, isExcluded, isPrefix, corrections }: SearchTerm, language: Sql, isExact: boolean): Sql {
  const words = isExact ? [written] : [written, ...corrections];
  const parts = [
    ...words.map((word) => sql`search_term(${word}::text, ${language})`),
    ...(isPrefix && !isExact ? [sql`search_prefix(${written}::text)`] : []),
  ];
  const matching = join(parts, ' || ');
  return isExcluded ? sql`!! (${matching})` : matching;
}
