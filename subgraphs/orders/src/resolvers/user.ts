/** What this subgraph adds to accounts (spec §2.5): their orders, as far as the caller may know of them. */
import { toConnection } from '@trestle/chassis/paging/connection';
import { readWindow } from '@trestle/chassis/paging/window';
import { fail } from '@trestle/schema/errors';
import type { UserResolvers } from '../generated/resolvers.ts';
import { ORDER_SORTING } from '../order-store.ts';
import { maySee } from '../order.ts';

export const User: UserResolvers = {
  __resolveReference: ({ id }) => ({ id }),

  orders: ({ id }, _, { loaders, visibility }) => (maySee(visibility, id) ? loaders.newestOrders(id) : []),

  async ordersConnection({ id }, args, { loaders: { pagesByCustomer, countsByCustomer }, visibility }) {
    if (!maySee(visibility, id)) throw fail('NOT_FOUND', 'There are no such orders');
    const window = readWindow(args, ORDER_SORTING);
    const filter = args.filter ?? {};
    const rows = await pagesByCustomer({ filter, window }).load(id);
    return toConnection(rows, window, () => countsByCustomer({ filter }).load(id));
  },

  async hasOrders({ id }, _, { loaders: { countsByCustomer }, visibility }) {
    return maySee(visibility, id) ? (await countsByCustomer({ filter: {} }).load(id)) > 0 : null;
  },
};
