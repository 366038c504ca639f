/** What can be listened to of accounts (spec §6). */
import { listenTo } from '@trestle/chassis/events/listening';
import type { SubscriptionResolvers } from '../generated/resolvers.ts';
import type { User } from '../user.ts';

export const Subscription: SubscriptionResolvers = {
  userCreated: { subscribe: () => listenTo<'userCreated', User>('userCreated') },
};
