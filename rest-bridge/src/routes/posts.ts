/** Rows of posts. */
import { POST } from '../reply/resources.ts';
import { getList, getOne } from './kinds.ts';
import type { Row } from './row.ts';

export const postRows: readonly Row[] = [
  getList({ path: '/posts', operation: 'ListPosts', resource: POST, filter: 'PostFilter', order: 'PostOrderField', spec: '§4.2' }),
  getOne({ path: '/posts/{id}', operation: 'GetPost', resource: POST, spec: 'contract §4' }),
];
