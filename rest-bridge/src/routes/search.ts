/** The row of searching over several kinds. */
import { readSearch } from '../query/search.ts';
import { SEARCH_RESULT } from '../reply/resources.ts';
import { toSearchBody } from '../reply/search.ts';
import type { OperationRow } from './row.ts';

export const searchRows: readonly OperationRow[] = [
  {
    method: 'GET',
    path: '/search',
    operation: 'Search',
    resource: SEARCH_RESULT,
    summary: 'Searches accounts, posts and comments',
    needsCaller: false,
    reads: { kind: 'own', takesBody: false, createReader: () => readSearch },
    answers: { status: 200, shape: 'search' },
    reply: toSearchBody,
    spec: '§4.2',
  },
];
