/** The GraphQL fields of password resets (contract §3). */
import type { Resolvers } from '../generated/resolvers.ts';
import { requestPasswordReset, resetPassword } from './mutations.ts';

export const passwordResetResolvers: Resolvers = {
  Mutation: {
    requestPasswordReset: (_, args, context, info) => requestPasswordReset(args, context, info),
    resetPassword: (_, args, context) => resetPassword(args, context),
  },
};
