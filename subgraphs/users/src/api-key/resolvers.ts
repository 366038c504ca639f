/** The GraphQL fields of API keys. */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { requireCaller } from '@trestle/chassis/request/context';
import type { Resolvers } from '../generated/resolvers.ts';
import { createApiKey, revokeApiKey, rotateApiKey, updateApiKey } from './mutations.ts';
import { allowManaging, keyVisibilityOf, parseListing } from './rules.ts';

export const apiKeyResolvers: Resolvers = {
  Query: {
    apiKey: (_, { id }, context) => {
      allowManaging(requireCaller(context));
      return context.loaders.apiKey.findOrGone(id);
    },
    apiKeys: (_, { filter, ...args }, context) => {
      const caller = allowManaging(requireCaller(context));
      const userId = parseListing(caller, filter);
      return context.stores.apiKeys.connection(args, { visibility: keyVisibilityOf(caller), userId });
    },
  },
  Mutation: {
    createApiKey: (_, args, context, info) => createApiKey(args, context, info),
    updateApiKey: (_, args, context) => updateApiKey(args, context),
    rotateApiKey: (_, args, context, info) => rotateApiKey(args, context, info),
    revokeApiKey: (_, args, context) => revokeApiKey(args, context),
  },
  ApiKey: {
    user: ({ userId }, _, { loaders }) => loaders.user.need(userId),
  },
  ApiKeyConnection: connectionResolvers,
};
