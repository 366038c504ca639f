/** What can be listened to of content (spec §6): messages, for whoever is logged in (contract §3). */
import { requireCaller } from '@trestle/chassis/request/context';
import { listenTo } from '@trestle/chassis/events/listening';
import type { SubscriptionResolvers } from '../generated/resolvers.ts';
import type { Message } from '../message.ts';

export const Subscription: SubscriptionResolvers = {
  messageAdded: {
    async subscribe(_, { channelId }, context) {
      requireCaller(context);
      await context.loaders.channel.need(channelId);
      return listenTo<'messageAdded', Message>('messageAdded', { channelId });
    },
  },
};
