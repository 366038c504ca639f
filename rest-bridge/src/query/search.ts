/** Parses the parameters of `GET /search` (spec §4.2). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { parsePageSize } from './paging.ts';
import type { Parameters } from './parameters.ts';
import type { ReaderInput, ReaderResult } from './request-reader.ts';

/** The types of search results, in the order of the results. */
export const SEARCH_TYPES = ['user', 'post', 'comment'] as const;
/** The type of a search result. */
export type SearchType = (typeof SEARCH_TYPES)[number];

/** The position of the last result of a page: its type and its cursor among the results of that type; no cursor means before the first. */
export interface SearchPosition {
  readonly type: SearchType;
  readonly cursor: string | undefined;
}

/** Returns the variables of a search. `q` is required; `type` lists result types, all by default; `limit` and `cursor` (or `after`) select the page. */
export function parseSearch({ query }: ReaderInput, faults: FieldFault[]): ReaderResult {
  const q = query.take('q') ?? '';
  if (q.trim() === '') faults.push({ field: 'q', message: 'is required' });
  const types = parseTypes(query, faults);
  const limit = parsePageSize(query, 'limit', faults);
  const cursor = query.take('cursor') ?? query.take('after') ?? '';
  const position = parseSearchCursor(cursor);
  if (cursor !== '' && (!position || !types.includes(position.type)))
    faults.push({ field: 'cursor', message: 'must be a cursor that the same search returned' });
  const start = SEARCH_TYPES.indexOf(position?.type ?? 'user');
  const isRequested = (type: SearchType) => types.includes(type) && SEARCH_TYPES.indexOf(type) >= start;
  const after = (type: SearchType) => (position?.type === type && position.cursor !== undefined ? position.cursor : null);
  return {
    paging: { variant: 'cursor', cursor, limit },
    variables: {
      q,
      first: limit,
      ...{ users: isRequested('user'), posts: isRequested('post'), comments: isRequested('comment') },
      ...{ afterUser: after('user'), afterPost: after('post'), afterComment: after('comment') },
    },
  };
}

function parseTypes(query: Parameters, faults: FieldFault[]): readonly SearchType[] {
  const names = query.takeList('type');
  if (names === undefined) return SEARCH_TYPES;
  if (names.some((name) => !SEARCH_TYPES.some((known) => known === name)))
    faults.push({ field: 'type', message: `must contain only ${SEARCH_TYPES.join(', ')}` });
  return SEARCH_TYPES.filter((type) => names.includes(type));
}

/** Returns the cursor of a search from the position of the last result of the page. */
export function toSearchCursor({ type, cursor }: SearchPosition): string {
  return Buffer.from(JSON.stringify([type, ...(cursor === undefined ? [] : [cursor])])).toString('base64url');
}

function parseSearchCursor(text: string): SearchPosition | undefined {
  try {
    const [name, cursor] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    const type = SEARCH_TYPES.find((known) => known === name);
    return type && (cursor === undefined || typeof cursor === 'string') ? { type, cursor } : undefined;
  } catch {
    return undefined;
  }
}
