/** Routes of payments. */
import { PAYMENT } from '../resources/resources.ts';
import { create, getList, getOne } from './route-kinds.ts';
import type { Route } from './route.ts';

const needsCaller = true;
const resource = PAYMENT;

/** The routes under `/payments`. */
export const paymentRoutes: readonly Route[] = [
  getList({
    path: '/payments',
    operation: 'ListPayments',
    resource,
    summary: 'Lists the payments of the caller; administrators see all payments',
    needsCaller,
    filter: 'PaymentFilter',
    order: 'PaymentOrderField',
    spec: 'contract §4',
  }),
  create({
    path: '/payments',
    operation: 'CreatePayment',
    resource,
    summary: 'Creates a payment, once for each Idempotency-Key',
    needsCaller,
    input: 'CreatePaymentInput',
    accountField: 'customerId',
    idempotency: 'required',
    location: ({ id }) => `/payments/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({ path: '/payments/{id}', operation: 'GetPayment', resource, summary: 'Returns a payment', needsCaller, spec: 'contract §4' }),
];
