/** The GraphQL fields of the access that the caller has given to OAuth clients. */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { requireCaller } from '@trestle/chassis/request/context';
import type { Resolvers } from '../generated/resolvers.ts';
import { revokeAuthorization } from './mutations.ts';

export const authorizationResolvers: Resolvers = {
  Query: {
    authorizations: (_, args, context) => context.stores.authorizations.connection(args, { userId: requireCaller(context).userId }),
  },
  Mutation: {
    revokeAuthorization: (_, args, context) => revokeAuthorization(args, context),
  },
  AuthorizationConnection: connectionResolvers,
};
