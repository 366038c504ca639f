/** Rows of payments. */
import { PAYMENT } from '../reply/resources.ts';
import { create, getList, getOne } from './kinds.ts';
import type { Row } from './row.ts';

const needsCaller = true;
const resource = PAYMENT;

export const paymentRows: readonly Row[] = [
  getList({
    path: '/payments',
    operation: 'ListPayments',
    resource,
    summary: 'Lists payments: the own ones, or all for administrators',
    needsCaller,
    filter: 'PaymentFilter',
    order: 'PaymentOrderField',
    spec: 'contract §4',
  }),
  create({
    path: '/payments',
    operation: 'CreatePayment',
    resource,
    summary: 'Takes a payment, once for each Idempotency-Key',
    needsCaller,
    input: 'CreatePaymentInput',
    idempotency: 'needed',
    location: ({ id }) => `/payments/${String(id)}`,
    spec: '§4.2',
  }),
  getOne({ path: '/payments/{id}', operation: 'GetPayment', resource, summary: 'Shows a payment', needsCaller, spec: 'contract §4' }),
];
