/** The route of the search over several types. */
import { createSearchReader } from '../query/search.ts';
import { SEARCH_RESULT } from '../resources/resources.ts';
import { toSearchResponse } from '../resources/search-results.ts';
import type { OperationRoute } from './route.ts';

/** The route `/search`. */
export const searchRoutes: readonly OperationRoute[] = [
  {
    method: 'GET',
    path: '/search',
    operation: 'Search',
    resource: SEARCH_RESULT,
    summary: 'Searches accounts, published posts and their comments; the most relevant results come first',
    needsCaller: false,
    input: { kind: 'custom', hasBody: false, createReader: createSearchReader },
    success: { status: 200, content: 'search' },
    toResponse: toSearchResponse,
    spec: '§4.2',
  },
];
