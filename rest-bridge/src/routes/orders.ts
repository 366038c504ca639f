/** Rows of orders. */
import { INVOICE, ORDER, ORDER_ITEM } from '../reply/resources.ts';
import { act, create, getList, getOne, getParts } from './kinds.ts';
import type { Row } from './row.ts';

const needsCaller = true;

export const orderRows: readonly Row[] = [
  getList({
    path: '/orders',
    operation: 'ListOrders',
    resource: ORDER,
    needsCaller,
    filter: 'OrderFilter',
    order: 'OrderOrderField',
    spec: '§4.2',
  }),
  create({
    path: '/orders',
    operation: 'CreateOrder',
    resource: ORDER,
    needsCaller,
    input: 'CreateOrderInput',
    location: ({ id }) => `/orders/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({ path: '/orders/{id}', operation: 'GetOrder', resource: ORDER, needsCaller, spec: '§4.2' }),
  act({ path: '/orders/{id}/cancel', operation: 'CancelOrder', resource: ORDER, needsCaller, spec: '§4.2' }),
  act({ path: '/orders/{id}/cancellations', operation: 'CancelOrder', resource: ORDER, needsCaller, spec: '§4.2' }),
  getParts({ path: '/orders/{id}/items', operation: 'GetOrderItems', resource: ORDER_ITEM, needsCaller, spec: '§4.2' }),
  getOne({ path: '/orders/{id}/invoice', operation: 'GetOrderInvoice', resource: INVOICE, needsCaller, spec: '§4.2' }),
];
