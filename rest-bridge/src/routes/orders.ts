/** Routes of orders. */
import { INVOICE, INVOICE_DOCUMENT, ORDER, ORDER_ITEM } from '../resources/resources.ts';
import { act, create, getList, getOne, getItems } from './route-kinds.ts';
import type { Route } from './route.ts';

const needsCaller = true;
const resource = ORDER;
const spec = '§4.2';

/** The routes under `/orders`. */
export const orderRoutes: readonly Route[] = [
  getList({
    path: '/orders',
    operation: 'ListOrders',
    resource,
    summary: 'Lists the orders of the caller; administrators see all orders',
    needsCaller,
    filter: 'OrderFilter',
    order: 'OrderOrderField',
    spec,
  }),
  create({
    path: '/orders',
    operation: 'CreateOrder',
    resource,
    summary: 'Places an order',
    needsCaller,
    input: 'CreateOrderInput',
    location: ({ id }) => `/orders/${String(id)}`,
    spec,
  }),
  getOne({ path: '/orders/{id}', operation: 'GetOrder', resource, summary: 'Returns an order', needsCaller, spec }),
  act({ path: '/orders/{id}/cancel', operation: 'CancelOrder', resource, summary: 'Cancels an order', needsCaller, spec }),
  act({
    path: '/orders/{id}/cancellations',
    operation: 'CancelOrder',
    resource,
    summary: 'Cancels an order; another path of `/orders/{id}/cancel`',
    needsCaller,
    spec,
  }),
  getItems({
    path: '/orders/{id}/items',
    operation: 'GetOrderItems',
    resource: ORDER_ITEM,
    summary: 'Lists all items of an order, in one page',
    needsCaller,
    spec,
  }),
  getOne({
    path: '/orders/{id}/invoice',
    operation: 'GetOrderInvoice',
    resource: INVOICE,
    summary: 'Returns the invoice of an order, as JSON or PDF',
    needsCaller,
    alternatives: [{ type: 'application/pdf', resource: INVOICE_DOCUMENT, write: writePdf }],
    spec,
  }),
];

/** Loads the writer of PDFs at the first invoice: it is large. */
async function writePdf(body: Readonly<Record<string, unknown>>): Promise<Buffer> {
  const { toInvoicePdf } = await import('../resources/invoice-pdf.ts');
  return toInvoicePdf(body);
}
