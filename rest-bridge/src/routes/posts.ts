/** Routes of posts and their comments. */
import { COMMENT, POST } from '../resources/resources.ts';
import { create, getList, getOne, merge, remove, replace } from './route-kinds.ts';
import type { Route } from './route.ts';

const needsCaller = true;
const spec = 'contract §4';

/** The routes of posts and comments. */
export const postRoutes: readonly Route[] = [
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
    summary: 'Creates a post',
    needsCaller,
    input: 'CreatePostInput',
    accountField: 'authorId',
    location: ({ id }) => `/posts/${String(id)}`,
    spec,
  }),
  getOne({ path: '/posts/{id}', operation: 'GetPost', resource: POST, summary: 'Returns a post', spec }),
  replace({
    path: '/posts/{id}',
    operation: 'UpdatePost',
    resource: POST,
    summary: 'Replaces a post; keeps its status when the body has none',
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
    summary: 'Updates a post',
    needsCaller,
    input: 'UpdatePostInput',
    spec,
  }),
  remove({ path: '/posts/{id}', operation: 'DeletePost', resource: POST, summary: 'Deletes a post', needsCaller, spec }),
  getList({
    path: '/posts/{id}/comments',
    operation: 'ListCommentsOfPost',
    resource: COMMENT,
    summary: 'Lists the comments on a post',
    filter: 'CommentFilter',
    order: 'CommentOrderField',
    without: ['postId'],
    spec,
  }),
  create({
    path: '/posts/{id}/comments',
    operation: 'CreateComment',
    resource: COMMENT,
    summary: 'Creates a comment on a post',
    needsCaller,
    input: 'CreateCommentInput',
    fromPath: { postId: 'id' },
    location: ({ id }) => `/comments/${String(id)}`,
    spec,
  }),
  getOne({ path: '/comments/{id}', operation: 'GetComment', resource: COMMENT, summary: 'Returns a comment', spec }),
  merge({
    path: '/comments/{id}',
    operation: 'UpdateComment',
    resource: COMMENT,
    summary: 'Updates a comment',
    needsCaller,
    input: 'UpdateCommentInput',
    spec,
  }),
  remove({ path: '/comments/{id}', operation: 'DeleteComment', resource: COMMENT, summary: 'Deletes a comment', needsCaller, spec }),
];
