/** The GraphQL fields of the audit trail, which administrators read. */
import { requireCaller } from '@trestle/chassis/request/context';
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { hasRole } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';
import type { Resolvers } from '../generated/resolvers.ts';

export const securityResolvers: Resolvers = {
  Query: {
    securityEvents: (_, { filter, ...args }, context) => {
      if (!hasRole(requireCaller(context), 'ADMIN')) throw fail('FORBIDDEN', 'Reading security events requires the role ADMIN.');
      return context.stores.securityEvents.connection(args, filter ?? {});
    },
  },
  SecurityEventConnection: connectionResolvers,
};
