/** Rows of posts and of what is said about them. */
import { COMMENT, POST } from '../reply/resources.ts';
import { create, getList, getOne, merge, remove, replace } from './kinds.ts';
import type { Row } from './row.ts';

const needsCaller = true;
const spec = 'contract §4';

export const postRows: readonly Row[] = [
  getList({
    path: '/posts',
    operation: 'ListPosts',
    resource: POST,
    summary: 'Lists posts',
    filter: 'PostFilter',
    order: 'PostOrderField',
    spec: '§4.2',
  }),
  create({
    path: '/posts',
    operation: 'CreatePost',
    resource: POST,
    summary: 'Makes a post',
    needsCaller,
    input: 'CreatePostInput',
    location: ({ id }) => `/posts/${String(id)}`,
    spec,
  }),
  getOne({ path: '/posts/{id}', operation: 'GetPost', resource: POST, summary: 'Shows a post', spec }),
  replace({
    path: '/posts/{id}',
    operation: 'UpdatePost',
    resource: POST,
    summary: 'Replaces a post; its state stays unless it is given',
    needsCaller,
    input: 'UpdatePostInput',
    required: ['title'],
    cleared: { body: '', tags: [] },
    spec,
  }),
  merge({
    path: '/posts/{id}',
    operation: 'UpdatePost',
    resource: POST,
    summary: 'Changes a post',
    needsCaller,
    input: 'UpdatePostInput',
    spec,
  }),
  remove({ path: '/posts/{id}', operation: 'DeletePost', resource: POST, summary: 'Deletes a post', needsCaller, spec }),
  getList({
    path: '/posts/{id}/comments',
    operation: 'ListCommentsOfPost',
    resource: COMMENT,
    summary: 'Lists what was said about a post',
    filter: 'CommentFilter',
    order: 'CommentOrderField',
    without: ['postId'],
    spec,
  }),
  create({
    path: '/posts/{id}/comments',
    operation: 'CreateComment',
    resource: COMMENT,
    summary: 'Says something about a post',
    needsCaller,
    input: 'CreateCommentInput',
    fromPath: { postId: 'id' },
    location: ({ id }) => `/comments/${String(id)}`,
    spec,
  }),
  getOne({ path: '/comments/{id}', operation: 'GetComment', resource: COMMENT, summary: 'Shows a comment', spec }),
  merge({
    path: '/comments/{id}',
    operation: 'UpdateComment',
    resource: COMMENT,
    summary: 'Changes a comment',
    needsCaller,
    input: 'UpdateCommentInput',
    spec,
  }),
  remove({ path: '/comments/{id}', operation: 'DeleteComment', resource: COMMENT, summary: 'Deletes a comment', needsCaller, spec }),
];
