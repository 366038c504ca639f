/** The GraphQL fields of accounts' pictures. */
import type { Resolvers } from '../generated/resolvers.ts';
import { removeAvatar, setAvatar } from './mutations.ts';
import { toAvatar } from './rules.ts';

export const avatarResolvers: Resolvers = {
  Mutation: {
    setAvatar: (_, args, context, info) => setAvatar(args, context, info),
    removeAvatar: (_, __, context) => removeAvatar(context),
  },
  User: { avatar: toAvatar },
};
