/** Rows of accounts, and what belongs to one. */
import { ORDER, POST, USER } from '../reply/resources.ts';
import { announced, create, getList, getOne, merge, remove, replace } from './kinds.ts';
import type { LocalRow, Row } from './row.ts';

const resource = USER;
const needsCaller = true;

/** Leads to the account of whoever asks (contract §4). */
const me: LocalRow = {
  method: 'GET',
  path: '/users/me',
  summary: "Leads to the caller's own account",
  needsCaller,
  types: ['*/*'],
  answers: { status: 307, shape: 'redirect', leadsTo: USER },
  answer: ({ prefix, search, caller }) => {
    const query = search.size > 0 ? `?${search.toString()}` : '';
    return { status: 307, headers: { location: `${prefix}/users/${caller?.userId ?? ''}${query}` } };
  },
  spec: 'contract §4',
};

export const userRows: readonly Row[] = [
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
    summary: 'Makes an account',
    input: 'CreateUserInput',
    location: ({ id }) => `/users/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({ path: '/users/{id}', operation: 'GetUser', resource, summary: 'Shows an account', spec: '§4.2' }),
  replace({
    path: '/users/{id}',
    operation: 'ReplaceUser',
    resource,
    summary: 'Replaces an account; administrators may make it where there was none',
    needsCaller,
    input: 'ReplaceUserInput',
    required: ['email', 'name'],
    // Role and activity are not the account's own to clear: without them they stay as they are.
    cleared: { bio: null, age: null },
    mayCreate: true,
    spec: '§4.2',
  }),
  merge({
    path: '/users/{id}',
    operation: 'UpdateUser',
    resource,
    summary: 'Changes an account',
    needsCaller,
    input: 'UpdateUserInput',
    spec: '§4.2',
  }),
  remove({ path: '/users/{id}', operation: 'DeleteUser', resource, summary: 'Deletes an account', needsCaller, spec: '§4.2' }),
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
    summary: 'Makes a post by an account: the own one, or any for administrators',
    needsCaller,
    input: 'CreatePostInput',
    fromPath: { authorId: 'id' },
    location: ({ id }) => `/posts/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({
    path: '/users/{id}/posts/{postId}',
    operation: 'GetPostOfUser',
    resource: POST,
    summary: 'Shows a post of an account',
    spec: '§4.2',
  }),
  announced({
    method: 'POST',
    path: '/users/{id}/password-reset',
    summary: 'Starts a password reset',
    needsCaller: false,
    spec: '§4.2',
  }),
];
