/** The GraphQL fields of sessions: login, refresh, logout, and the list of sessions (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { requireCaller } from '@trestle/chassis/request/context';
import type { Resolvers } from '../generated/resolvers.ts';
import { completeLogin, endSession, login, logout, refreshSession } from './mutations.ts';

export const sessionResolvers: Resolvers = {
  Query: {
    sessions: (_, args, context) => context.stores.sessions.connection(args, { userId: requireCaller(context).userId }),
  },
  Mutation: {
    login: (_, args, context) => login(args, context),
    completeLogin: (_, args, context) => completeLogin(args, context),
    refreshSession: (_, __, context) => refreshSession(context),
    logout: (_, args, context) => logout(args, context),
    endSession: (_, args, context) => endSession(args, context),
  },
  Session: {
    isCurrent: ({ id }, _, { caller }) => id === caller?.sessionId,
  },
  SessionConnection: connectionResolvers,
};
