/** The rules of the search over accounts, posts and comments (contract §3). Pure: no database, no clock. */
import { type SearchQuery, parseSearchQuery } from '@trestle/chassis/search/query';
import type { HighlightPart } from '@trestle/chassis/search/highlight';
import { fail } from '@trestle/schema/errors';

/** The types of results. */
export const SEARCH_TYPES = ['USER', 'POST', 'COMMENT'] as const;
export type SearchType = (typeof SEARCH_TYPES)[number];

/** The fields that are searched. */
export type SearchField = 'NAME' | 'BIO' | 'TITLE' | 'BODY';

/** A search returns its best results, and no more than these. */
export const MAX_RESULTS = 1000;

/** What is searched for, and the types of results. */
export interface SearchScope {
  readonly query: SearchQuery;
  readonly types: readonly SearchType[];
}

/** A result: the resource itself is loaded by its type. */
export interface Found {
  readonly id: string;
  readonly type: SearchType;
  readonly relevance: number;
}

/** A field of a result with its matches. Named by resolver-types.json. @public */
export interface Highlight {
  readonly field: SearchField;
  readonly parts: readonly HighlightPart[];
}

/** Parses the arguments. Throws VALIDATION_ERROR. */
export function parseSearch(written: string, types: readonly SearchType[] | null | undefined): SearchScope {
  const query = parseSearchQuery(written, 'query');
  if (!query) throw fail('VALIDATION_ERROR', 'A search needs a query.', { details: [{ field: 'query', message: 'must not be blank' }] });
  const chosen = SEARCH_TYPES.filter((type) => types?.includes(type));
  return { query, types: chosen.length > 0 ? chosen : SEARCH_TYPES };
}

/** Returns the fields of a type: the one that titles it, and the longer one. */
export function fieldsOf(type: SearchType): { readonly title: SearchField; readonly body: SearchField } {
  return type === 'USER' ? { title: 'NAME', body: 'BIO' } : { title: 'TITLE', body: 'BODY' };
}

/** Returns the type of a resource by the prefix of its id (contract §2). */
export function typeOfId(id: string): 'User' | 'Post' | 'Comment' {
  return id.startsWith('usr_') ? 'User' : id.startsWith('pst_') ? 'Post' : 'Comment';
}
