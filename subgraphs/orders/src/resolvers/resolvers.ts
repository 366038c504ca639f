/** All resolvers of the orders subgraph. */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import type { Resolvers } from '../generated/resolvers.ts';
import { Invoice, Order, OrderItem, Payment, Product } from './entities.ts';
import { Mutation } from './mutation.ts';
import { Query } from './query.ts';
import { Subscription } from './subscription.ts';
import { User } from './user.ts';

export const resolvers: Resolvers = {
  Query,
  Mutation,
  Subscription,
  User,
  Product,
  Order,
  OrderItem,
  Invoice,
  Payment,
  OrderConnection: connectionResolvers,
  ProductConnection: connectionResolvers,
  PaymentConnection: connectionResolvers,
};
