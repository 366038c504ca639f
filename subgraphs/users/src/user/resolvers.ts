/** The GraphQL fields of accounts (spec §4.5, contract §3). */
import { selectEvents } from '@trestle/chassis/events/outbox/event-selection';
import type { AuthRules } from '@trestle/chassis/graphql/auth-directive';
import { connectionResolvers, nodesOf } from '@trestle/chassis/paging/connection';
import type { Caller, Plan } from '@trestle/identity';
import type { Resolvers } from '../generated/resolvers.ts';
import { changePassword } from './change-password.ts';
import { createUser, deleteUser, replaceUser, updateUser } from './mutations.ts';
import { MASKED_EMAIL } from './email-address.ts';
import { type User, allowListing, parsePagination, parseSearch } from './rules.ts';
import { FIRST_BY_NAME } from './store.ts';

export const userResolvers: Resolvers = {
  Query: {
    user: (_, { id }, { loaders }) => loaders.user.findOrGone(id),
    users: async (_, { pagination, role }, { stores: { users } }) =>
      nodesOf(await users.connection(parsePagination(pagination), { role: role ?? null })),
    usersConnection: (_, { filter, ...args }, { stores: { users }, caller }) =>
      users.connection(args, allowListing(caller, { filter: filter ?? {}, orderBy: args.orderBy })),
    me: (_, __, { caller, loaders }) => (caller ? loaders.user.find(caller.userId) : null),
    searchUsers: async (_, { query }, { stores: { users } }) =>
      nodesOf(await users.connection(FIRST_BY_NAME, { search: parseSearch(query) })),
  },
  Mutation: {
    createUser: (_, args, context, info) => createUser(args, context, info),
    updateUser: (_, args, context) => updateUser(args, context),
    replaceUser: (_, args, context) => replaceUser(args, context),
    deleteUser: (_, args, context) => deleteUser(args, context),
    changePassword: (_, args, context) => changePassword(args, context),
  },
  Subscription: {
    userCreated: { subscribe: () => selectEvents<'userCreated', User>('userCreated') },
  },
  User: {
    __resolveReference: ({ id }, { loaders }) => loaders.user.find(id),
    oldField: () => null,
    plan: ({ plan }) => plan.toUpperCase() as Uppercase<Plan>,
    requestsPerMinute: ({ plan, requestsPerMinute }) => (plan === 'enterprise' ? requestsPerMinute : null),
  },
  UserConnection: connectionResolvers,
};

function isOwner({ id, isProven }: User, caller: Caller | null): boolean {
  return isProven === true || id === caller?.userId;
}

/**
 * An account sees its own e-mail address, plan and number of requests per minute; so does a request that created it or sent its password.
 * Others see the mask of the address (contract §3), as does a client that the account has not allowed to read its profile.
 */
export const authRules: AuthRules = {
  owners: { 'User.email': isOwner, 'User.plan': isOwner, 'User.requestsPerMinute': isOwner },
  scopes: { 'User.email': 'users:read', 'User.plan': 'users:read', 'User.requestsPerMinute': 'users:read' },
  masks: { 'User.email': MASKED_EMAIL },
};
