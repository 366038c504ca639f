/** The GraphQL fields of messages (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';
import { createMessage, deleteMessage, updateMessage } from './mutations.ts';
import { subscribeToMessages } from './subscriptions.ts';

export const messageResolvers: Resolvers = {
  Query: {
    message: (_, { id }, { loaders }) => loaders.message.findOrGone(id),
  },
  Mutation: {
    createMessage: (_, args, context, info) => createMessage(args, context, info),
    updateMessage: (_, args, context) => updateMessage(args, context),
    deleteMessage: (_, args, context) => deleteMessage(args, context),
  },
  Subscription: {
    messageAdded: { subscribe: (_, args, context) => subscribeToMessages(args, context) },
  },
  Message: {
    __resolveReference: ({ id }, { loaders }) => loaders.message.find(id),
    author: ({ authorId }) => ({ id: authorId }),
    channel: ({ channelId }, _, { loaders }) => loaders.channel.need(channelId),
  },
  MessageConnection: connectionResolvers,
};
