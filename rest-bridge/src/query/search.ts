/** Parses the parameters of `GET /search` (spec §4.2). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import { type Paging, parseCursor, parsePageSize, toConnectionArguments } from './paging.ts';
import type { Parameters } from './parameters.ts';
import type { RequestReader } from './request-reader.ts';

/** The types of search results. */
export const SEARCH_TYPES = ['user', 'post', 'comment'] as const;
/** The type of a search result. */
export type SearchType = (typeof SEARCH_TYPES)[number];

/** Creates the reader of a search: `q` is required, `type` lists result types, all by default. Results are paged by cursor, in every version. */
export function createSearchReader(): RequestReader {
  return ({ query }, faults) => {
    const q = query.take('q') ?? '';
    if (q.trim() === '') faults.push({ field: 'q', message: 'is required' });
    const types = parseTypes(query, faults);
    const limit = parsePageSize(query, 'limit', faults);
    const paging: Paging = { variant: 'cursor', cursor: parseCursor(query, faults), limit };
    return { paging, variables: { q, ...(types && { types }), ...toConnectionArguments(paging) } };
  };
}

function parseTypes(query: Parameters, faults: FieldFault[]): readonly string[] | undefined {
  const names = query.takeList('type');
  if (names?.some((name) => !SEARCH_TYPES.some((known) => known === name)))
    faults.push({ field: 'type', message: `must contain only ${SEARCH_TYPES.join(', ')}` });
  return names && SEARCH_TYPES.filter((type) => names.includes(type)).map((type) => type.toUpperCase());
}
