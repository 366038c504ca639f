/** All resolvers of the orders subgraph. */
import { mergeResolvers } from '@trestle/chassis/graphql/resolvers';
import { orderResolvers } from './order/resolvers.ts';
import { paymentResolvers } from './payment/resolvers.ts';
import { productResolvers } from './product/resolvers.ts';
import { userResolvers } from './user/resolvers.ts';

export const resolvers = mergeResolvers(orderResolvers, productResolvers, paymentResolvers, userResolvers);
