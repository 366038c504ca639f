/** The GraphQL fields of sessions: login and logout (contract §3). */
import type { Resolvers } from '../generated/resolvers.ts';
import { login, logout } from './mutations.ts';

export const sessionResolvers: Resolvers = {
  Mutation: {
    login: (_, args, context) => login(args, context),
    logout: (_, args, context) => logout(args, context),
  },
};
