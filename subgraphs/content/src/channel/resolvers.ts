/** The GraphQL fields of channels (contract §3). */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';

export const channelResolvers: Resolvers = {
  Query: {
    channel: (_, { id }, { loaders }) => loaders.channel.findOrGone(id),
    channelsConnection: (_, args, { stores: { channels } }) => channels.connection(args),
  },
  Channel: {
    __resolveReference: ({ id }, { loaders }) => loaders.channel.find(id),
    messagesConnection: ({ id }, args, { loaders }) => loaders.messagesIn(args).load(id),
  },
  ChannelConnection: connectionResolvers,
};
