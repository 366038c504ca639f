/** Rows of orders. */
import { toInvoicePdf } from '../reply/invoice-pdf.ts';
import { INVOICE, INVOICE_DOCUMENT, ORDER, ORDER_ITEM } from '../reply/resources.ts';
import { act, create, getList, getOne, getParts } from './kinds.ts';
import type { Row } from './row.ts';

const needsCaller = true;
const resource = ORDER;
const spec = '§4.2';

export const orderRows: readonly Row[] = [
  getList({
    path: '/orders',
    operation: 'ListOrders',
    resource,
    summary: 'Lists orders: the own ones, or all for administrators',
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
  getOne({ path: '/orders/{id}', operation: 'GetOrder', resource, summary: 'Shows an order', needsCaller, spec }),
  act({ path: '/orders/{id}/cancel', operation: 'CancelOrder', resource, summary: 'Calls an order off', needsCaller, spec }),
  act({
    path: '/orders/{id}/cancellations',
    operation: 'CancelOrder',
    resource,
    summary: 'Calls an order off; the same as `cancel`, by a noun',
    needsCaller,
    spec,
  }),
  getParts({
    path: '/orders/{id}/items',
    operation: 'GetOrderItems',
    resource: ORDER_ITEM,
    summary: 'Lists what was ordered',
    needsCaller,
    spec,
  }),
  getOne({
    path: '/orders/{id}/invoice',
    operation: 'GetOrderInvoice',
    resource: INVOICE,
    summary: 'Shows the invoice, also as PDF',
    needsCaller,
    alternatives: [{ type: 'application/pdf', resource: INVOICE_DOCUMENT, write: toInvoicePdf }],
    spec,
  }),
];
