/** Rows of accounts, and what belongs to one. */
import { ORDER, POST, USER } from '../reply/resources.ts';
import { create, getList, getOne, merge, remove, replace } from './kinds.ts';
import type { Row } from './row.ts';

const resource = USER;

export const userRows: readonly Row[] = [
  getList({ path: '/users', operation: 'ListUsers', resource, filter: 'UserFilter', order: 'UserOrderField', spec: '§4.2' }),
  create({
    path: '/users',
    operation: 'CreateUser',
    resource,
    input: 'CreateUserInput',
    location: ({ id }) => `/users/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({ path: '/users/{id}', operation: 'GetUser', resource, spec: '§4.2' }),
  replace({
    path: '/users/{id}',
    operation: 'UpdateUser',
    resource,
    needsCaller: true,
    input: 'UpdateUserInput',
    required: ['email', 'name'],
    // Role and activity are not the account's own to clear: without them they stay as they are.
    cleared: ['bio', 'age'],
    spec: '§4.2',
  }),
  merge({ path: '/users/{id}', operation: 'UpdateUser', resource, needsCaller: true, input: 'UpdateUserInput', spec: '§4.2' }),
  remove({ path: '/users/{id}', operation: 'DeleteUser', resource, needsCaller: true, spec: '§4.2' }),
  getList({
    path: '/users/{id}/orders',
    operation: 'ListOrdersOfUser',
    resource: ORDER,
    needsCaller: true,
    filter: 'OrderFilter',
    order: 'OrderOrderField',
    without: ['customerId'],
    spec: '§4.2',
  }),
  getList({
    path: '/users/{id}/posts',
    operation: 'ListPostsOfUser',
    resource: POST,
    filter: 'PostFilter',
    order: 'PostOrderField',
    without: ['authorId'],
    spec: '§4.2',
  }),
];
