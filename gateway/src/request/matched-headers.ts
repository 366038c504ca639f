/** Finds the headers of a request for which patterns of rules stand. No I/O. */
import { fail } from '@trestle/schema/errors';

/** Each of them goes to subgraphs and is part of keys, for every request. */
const MAX_HEADERS = 100;
const MAX_CHARACTERS = 16_384;

interface MatchOptions {
  /** Returns a header, or what replaces it. */
  readonly valueOf: (name: string) => string | readonly string[] | undefined;
  /** Returns whether a pattern stands for the name. */
  readonly isMatched: (name: string) => boolean;
  /** Names that are left out, because they are known without a pattern. */
  readonly named: readonly string[];
}

/**
 * Returns those of the headers for which a pattern stands, names and values in turn, ordered by name, so that equal headers in another order are equal.
 * `names` are in lower case. Throws VALIDATION_ERROR for more than 100 of them, and for more than 16,384 characters in names and values.
 */
export function findMatchedHeaders(names: Iterable<string>, { valueOf, isMatched, named }: MatchOptions): string[] {
  const matched = [...new Set(names)].filter((name) => isMatched(name) && !named.includes(name)).sort();
  const found: string[] = [];
  let characters = 0;
  for (const name of matched) {
    const value = String(valueOf(name) ?? '');
    characters += name.length + value.length;
    found.push(name, value);
  }
  if (matched.length > MAX_HEADERS || characters > MAX_CHARACTERS)
    throw fail('VALIDATION_ERROR', 'The request has too many headers, or too long ones, that would be passed on to subgraphs.');
  return found;
}
