/** Routes of accounts, their orders and their posts. */
import { AVATAR } from '../resources/file-resources.ts';
import { ORDER, POST, USER } from '../resources/resources.ts';
import { download } from './file-route-kinds.ts';
import { accept, create, getList, getOne, merge, remove, replace } from './route-kinds.ts';
import type { LocalRoute, Route } from './route.ts';

const resource = USER;
const needsCaller = true;

/** Redirects to the account of the caller (contract §4). */
const me: LocalRoute = {
  method: 'GET',
  path: '/users/me',
  summary: 'Redirects to the account of the caller',
  needsCaller,
  types: [],
  success: { status: 307, content: 'redirect', target: USER },
  respond: ({ prefix, search, caller }) => {
    const query = search.size > 0 ? `?${search.toString()}` : '';
    return { status: 307, headers: { location: `${prefix}/users/${caller?.userId ?? ''}${query}` } };
  },
  spec: 'contract §4',
};

/** The routes under `/users`. */
export const userRoutes: readonly Route[] = [
  me,
  getList({
    path: '/users',
    operation: 'ListUsers',
    resource,
    summary: 'Lists accounts',
    filter: 'UserFilter',
    order: 'UserOrderField',
    spec: '§4.2',
  }),
  create({
    path: '/users',
    operation: 'CreateUser',
    resource,
    summary: 'Creates an account',
    input: 'CreateUserInput',
    location: ({ id }) => `/users/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({ path: '/users/{id}', operation: 'GetUser', resource, summary: 'Returns an account', spec: '§4.2' }),
  replace({
    path: '/users/{id}',
    operation: 'ReplaceUser',
    resource,
    summary: 'Replaces an account; administrators may also create one',
    needsCaller,
    input: 'ReplaceUserInput',
    required: ['email', 'name'],
    // Omitted, `role` and `isActive` keep their values: an account may not change them for itself.
    cleared: { bio: null, age: null },
    mayCreate: true,
    spec: '§4.2',
  }),
  merge({
    path: '/users/{id}',
    operation: 'UpdateUser',
    resource,
    summary: 'Updates an account',
    needsCaller,
    input: 'UpdateUserInput',
    spec: '§4.2',
  }),
  remove({ path: '/users/{id}', operation: 'DeleteUser', resource, summary: 'Deletes an account', needsCaller, spec: '§4.2' }),
  download({
    path: '/users/{id}/avatar',
    operation: 'GetAvatar',
    resource: AVATAR,
    summary: 'Returns the picture of an account',
    owner: 'users',
    types: ['image/png', 'image/jpeg', 'image/webp', 'image/gif'],
    spec: 'contract §3',
  }),
  getList({
    path: '/users/{id}/orders',
    operation: 'ListOrdersOfUser',
    resource: ORDER,
    summary: 'Lists the orders of an account',
    needsCaller,
    filter: 'OrderFilter',
    order: 'OrderOrderField',
    without: ['customerId'],
    spec: '§4.2',
  }),
  getList({
    path: '/users/{id}/posts',
    operation: 'ListPostsOfUser',
    resource: POST,
    summary: 'Lists the posts of an account',
    filter: 'PostFilter',
    order: 'PostOrderField',
    without: ['authorId'],
    spec: '§4.2',
  }),
  create({
    path: '/users/{id}/posts',
    operation: 'CreatePost',
    resource: POST,
    summary: 'Creates a post of the caller; administrators may name any account',
    needsCaller,
    input: 'CreatePostInput',
    fromPath: { authorId: 'id' },
    accountField: 'authorId',
    location: ({ id }) => `/posts/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({
    path: '/users/{id}/posts/{postId}',
    operation: 'GetPostOfUser',
    resource: POST,
    summary: 'Returns a post of an account',
    spec: '§4.2',
  }),
  accept({
    path: '/users/{id}/password-reset',
    operation: 'RequestPasswordReset',
    jobType: 'ResetPasswordJob',
    summary: 'Mails a link to set a new password; the response is the same when there is no such account',
    input: { kind: 'path' },
    isOfSession: true,
    spec: '§4.2',
  }),
];
