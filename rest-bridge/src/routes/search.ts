/** The route of the search over several types. */
import { parseSearch } from '../query/search.ts';
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
    summary: 'Searches accounts, posts and comments',
    needsCaller: false,
    input: { kind: 'custom', hasBody: false, createReader: () => parseSearch },
    success: { status: 200, content: 'search' },
    toResponse: toSearchResponse,
    spec: '§4.2',
  },
];
