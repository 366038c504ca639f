/** The batched reads of one request, each limited to what the caller may see. */
import { createGroupLoader, createLoadersByArguments, createRowLoader } from '@trestle/chassis/loading/loaders';
import { createLookup } from '@trestle/chassis/loading/lookup';
import { type WindowArguments, parseWindow } from '@trestle/chassis/paging/window';
import type { RequestContext } from '@trestle/chassis/request/context';
import { hasPrefix } from '@trestle/chassis/values/ids';
import { visibilityOf } from './access.ts';
import type { OrderFilter, OrderOrderField } from './generated/resolvers.ts';
import type { Order } from './order/rules.ts';
import { ORDER_SORTING } from './order/store.ts';
import { parseProductId } from './product/rules.ts';
import type { OrdersStores } from './stores.ts';

export type OrdersLoaders = ReturnType<typeof createOrdersLoaders>;

type OrdersArguments = WindowArguments<OrderOrderField> & { readonly filter?: OrderFilter | null };

export function createOrdersLoaders({ orders, products, payments }: OrdersStores, { caller }: Pick<RequestContext, 'caller'>) {
  const visibility = visibilityOf(caller);
  const visible = { filter: {}, visibility };

  const order = createLookup<Order>({ noun: 'order', isId: hasPrefix('ord'), load: (ids) => orders.findByIds(ids, visible) });
  /** Items and invoices are visible to those who may see their order. */
  const ofVisibleOrders =
    <Row extends { readonly orderId: string }>(load: (ids: readonly string[]) => Promise<readonly Row[]>) =>
    async (ids: readonly string[]) => {
      const rows = await load(ids);
      const owners = await Promise.all(rows.map(({ orderId }) => order.find(orderId)));
      return rows.filter((_, i) => owners[i]);
    };

  const totals = createLoadersByArguments((filter: OrderFilter) => orders.totalsBy({ by: 'customerId', scope: { filter, visibility } }));

  return {
    order,
    item: createLookup({ noun: 'order item', isId: hasPrefix('itm'), load: ofVisibleOrders(orders.findItemsByIds) }),
    invoice: createLookup({ noun: 'invoice', isId: hasPrefix('inv'), load: ofVisibleOrders(orders.findInvoicesByIds) }),
    payment: createLookup({ noun: 'payment', isId: hasPrefix('pay'), load: (ids) => payments.findByIds(ids, visible) }),
    product: createLookup({
      noun: 'product',
      isId: (id) => parseProductId(id) !== undefined,
      load: (ids) => products.findByIds(ids.map(Number)),
    }),

    itemsByOrder: createGroupLoader(orders.findItems, ({ orderId }) => orderId),
    invoiceByOrder: createRowLoader(orders.findInvoices, ({ orderId }) => orderId),
    paymentsByOrder: createGroupLoader(payments.findByOrders, ({ orderId }) => orderId ?? ''),

    /** Orders by their customer. */
    ordersOf: createLoadersByArguments(({ filter, ...args }: OrdersArguments) =>
      orders.pagesBy({
        by: 'customerId',
        scope: { filter: filter ?? {}, visibility },
        window: parseWindow(args, ORDER_SORTING),
        totals: totals(filter ?? {}),
      }),
    ),
    /** The number of orders by their customer. */
    orderTotals: totals,
  };
}
