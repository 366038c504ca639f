/** The mutations of payments: rules first, then one write. */
import { requireCaller } from '@trestle/chassis/request/context';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { visibilityOf } from '../access.ts';
import type { OrdersContext } from '../context.ts';
import type { MutationCreatePaymentArgs } from '../generated/resolvers.ts';
import { type Payment, allowPayment, parsePayment } from './rules.ts';

/** Throws VALIDATION_ERROR, FORBIDDEN, NOT_FOUND or BUSINESS_RULE_VIOLATION. */
export async function createPayment(args: MutationCreatePaymentArgs, context: OrdersContext, info: MutationCall['info']): Promise<Payment> {
  const payment = parsePayment(args.input);
  allowPayment(requireCaller(context), payment);
  return context.write({ args, info }, ({ payments }) => payments.create(payment, visibilityOf(context.caller)));
}
