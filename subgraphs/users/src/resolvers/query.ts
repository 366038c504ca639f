/** What can be read of accounts (spec §4.5, contract §3). */
import { toConnection } from '@trestle/chassis/paging/connection';
import { checkText } from '@trestle/chassis/values/text';
import { MAX_PAGE_SIZE, readWindow } from '@trestle/chassis/paging/window';
import { fail, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import type { QueryResolvers } from '../generated/resolvers.ts';
import { USER_SORTING } from '../user-store.ts';
import { allowListing } from '../user.ts';
import { findNode } from './node.ts';

/** Beyond this a page number would make the database skip for seconds; cursors reach everything. */
const MAX_PAGE = 10_000;

export const Query: QueryResolvers = {
  async user(_, { id }, { userById, deletedById }) {
    const user = await userById.load(id);
    if (!user && (await deletedById.load(id))) throw fail('GONE', 'The account was deleted');
    return user;
  },

  users(_, { pagination, role }, { users }) {
    const page = pagination?.page ?? 1;
    const limit = pagination?.limit ?? 10;
    rejectFaults([
      ...(page < 1 || page > MAX_PAGE ? [{ field: 'pagination.page', message: `must be 1 to ${String(MAX_PAGE)}` }] : []),
      ...(limit < 1 || limit > MAX_PAGE_SIZE ? [{ field: 'pagination.limit', message: `must be 1 to ${String(MAX_PAGE_SIZE)}` }] : []),
    ]);
    const window = readWindow({ first: limit, offset: (page - 1) * limit }, USER_SORTING);
    return users.list({ role: role ?? null }, window).then((rows) => rows.slice(0, limit));
  },

  async usersConnection(_, args, { caller, users }) {
    allowListing(caller, args);
    const window = readWindow(args, USER_SORTING);
    const filter = args.filter ?? {};
    return toConnection(await users.list(filter, window), window, () => users.count(filter));
  },

  me: (_, __, { caller, userById }) => (caller ? userById.load(caller.userId) : null),

  async searchUsers(_, { query }, { users }) {
    rejectFaults(checkText(query, { field: 'query', ...lengthOf('Query.searchUsers(query:)') }));
    const window = readWindow({ first: MAX_PAGE_SIZE, orderBy: [{ field: 'NAME', direction: 'ASC' }] }, USER_SORTING);
    return (await users.list({ search: query }, window)).slice(0, MAX_PAGE_SIZE);
  },

  node: (_, { id }, context) => findNode(id, context),
};
