/** The GraphQL fields that this subgraph adds to accounts (spec §2.5): their orders, as far as the caller may see them. */
import { nodesOf } from '@trestle/chassis/paging/connection';
import { MAX_PAGE_SIZE } from '@trestle/chassis/paging/window';
import { fail } from '@trestle/schema/errors';
import { maySee, visibilityOf } from '../access.ts';
import type { OrdersContext } from '../context.ts';
import type { Resolvers } from '../generated/resolvers.ts';

const sees = ({ caller }: OrdersContext, id: string) => maySee(visibilityOf(caller), id);

export const userResolvers: Resolvers = {
  User: {
    // Only users knows which accounts were deleted, so the reference itself is the answer. The gateway asks users for `id`, which is
    // @external here. It cannot be null (composition: EXTERNAL_TYPE_MISMATCH), and contract §3 declares it; see ADR 3.
    __resolveReference: ({ id }) => ({ id }),
    orders: async ({ id }, _, context) =>
      sees(context, id) ? nodesOf(await context.loaders.ordersOf({ first: MAX_PAGE_SIZE }).load(id)) : [],
    ordersConnection: ({ id }, args, context) => {
      if (!sees(context, id)) throw fail('NOT_FOUND', `The orders of account ${id} do not exist.`);
      return context.loaders.ordersOf(args).load(id);
    },
    hasOrders: async ({ id }, _, context) =>
      sees(context, id) && context.caller?.scopes.has('orders:read') ? (await context.loaders.orderTotals({}).load(id)) > 0 : null,
  },
};
