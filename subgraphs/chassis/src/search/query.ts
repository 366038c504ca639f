/** Parses what a client searches for: words, "phrases", `or` and `-`, as web search engines read them. No I/O. */
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';

/** A word or phrase of a query. */
export interface SearchTerm {
  /** As the client wrote it. */
  readonly written: string;
  readonly isPhrase: boolean;
  /** Whether documents must not have it. */
  readonly isExcluded: boolean;
  /** Whether words that begin with it match too: the client may still be typing it. */
  readonly isPrefix: boolean;
  /** Words that match in its place, because no document has the word itself. */
  readonly corrections: readonly string[];
}

/** A query: alternatives, each with the terms that a document must all meet. No alternative is empty, or excludes all of its terms. */
export type SearchQuery = readonly (readonly SearchTerm[])[];

/** The most words of a query, those of phrases included. */
export const MAX_WORDS = 32;
/** The most characters of a word. Longer ones are in no document that can be found. */
export const MAX_WORD_LENGTH = 100;
/** A single letter begins too many words. */
const MIN_PREFIX_LENGTH = 2;

const TOKEN = /-?"[^"]*"?|[^\s"]+/g;
const WORD = /[\p{L}\p{N}]+/gu;

/** Parses a query; undefined for a blank one. Throws VALIDATION_ERROR that names `field` when it has too many or no words, or only excluded ones. */
export function parseSearchQuery(written: string, field: string): SearchQuery | undefined {
  if (written.trim() === '') return undefined;
  const query = markPrefix(toAlternatives(written.match(TOKEN) ?? []));
  rejectFaults(faultsOf(query).map((message) => ({ field, message }) satisfies FieldFault));
  return query;
}

/** Returns all terms of a query. */
export function termsOf(query: SearchQuery): readonly SearchTerm[] {
  return query.flat();
}

/** An `or` without terms on both sides has no meaning, and is left out. */
function toAlternatives(tokens: readonly string[]): SearchTerm[][] {
  const alternatives: SearchTerm[][] = [[]];
  for (const token of tokens) {
    if (/^or$/i.test(token)) alternatives.push([]);
    else alternatives.at(-1)?.push(...toTerms(token));
  }
  return alternatives.filter((terms) => terms.length > 0);
}

/** A token without letters and digits is no term. */
function toTerms(token: string): SearchTerm[] {
  const isExcluded = token.startsWith('-');
  const rest = isExcluded ? token.slice(1) : token;
  const isPhrase = rest.startsWith('"');
  const written = rest.replaceAll('"', '').trim();
  return wordsOf(written).length > 0 ? [{ written, isPhrase, isExcluded, isPrefix: false, corrections: [] }] : [];
}

function markPrefix(alternatives: readonly (readonly SearchTerm[])[]): SearchQuery {
  const last = alternatives.at(-1)?.at(-1);
  const isTyped = last && !last.isPhrase && !last.isExcluded && last.written.length >= MIN_PREFIX_LENGTH;
  return alternatives.map((terms) => terms.map((term) => (isTyped && term === last ? { ...term, isPrefix: true } : term)));
}

function faultsOf(query: SearchQuery): string[] {
  if (query.length === 0) return ['must contain a letter or a digit'];
  const words = termsOf(query).flatMap(({ written }) => wordsOf(written));
  return [
    ...(words.length > MAX_WORDS ? [`must have at most ${String(MAX_WORDS)} words, not ${String(words.length)}`] : []),
    ...(words.some((word) => word.length > MAX_WORD_LENGTH) ? [`must have words of at most ${String(MAX_WORD_LENGTH)} characters`] : []),
    ...(query.some((terms) => terms.every(({ isExcluded }) => isExcluded))
      ? ['must have a word that is not excluded, on each side of `or`']
      : []),
  ];
}

function wordsOf(written: string): readonly string[] {
  return written.match(WORD) ?? [];
}
