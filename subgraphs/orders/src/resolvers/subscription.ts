/** What can be listened to of orders (contract §3): one's own, or all for administrators. */
import { requireCaller } from '@trestle/chassis/request/context';
import { listenTo } from '@trestle/chassis/events/listening';
import { fail } from '@trestle/schema/errors';
import type { SubscriptionResolvers } from '../generated/resolvers.ts';
import type { Order } from '../order.ts';

export const Subscription: SubscriptionResolvers = {
  orderStatusChanged: {
    async subscribe(_, { orderId }, context) {
      const { loaders, visibility } = context;
      if (orderId != null && !(await loaders.findOrder(orderId))) throw fail('NOT_FOUND', 'There is no such order');
      const where = orderId != null ? { orderId } : visibility.all ? {} : { customerId: requireCaller(context).userId };
      return listenTo<'orderStatusChanged', Order>('orderStatusChanged', where);
    },
  },
};
