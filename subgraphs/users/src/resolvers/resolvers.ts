/** All resolvers of the users subgraph, and who may read its guarded fields. */
import type { AuthRules } from '@trestle/chassis/graphql/auth-directive';
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { JSONScalar } from '@trestle/chassis/graphql/scalars';
import type { Resolvers } from '../generated/resolvers.ts';
import type { User } from '../user.ts';
import { Mutation } from './mutation.ts';
import { Node } from './node.ts';
import { Query } from './query.ts';
import { Subscription } from './subscription.ts';

export const resolvers: Resolvers = {
  Query,
  Mutation,
  Subscription,
  Node,
  User: {
    __resolveReference: ({ id }, { userById }) => userById.load(id),
    oldField: () => null,
  },
  UserConnection: connectionResolvers,
  JSON: JSONScalar,
};

export const authRules: AuthRules = {
  owners: { 'User.email': ({ id, isProven }: User, caller) => isProven === true || id === caller?.userId },
  masks: { 'User.email': '***@masked.invalid' },
};
