/** The mutations of orders: rules first, then one write. */
import { requireCaller } from '@trestle/chassis/request/context';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { visibilityOf } from '../access.ts';
import type { OrdersContext } from '../context.ts';
import type { MutationAdvanceOrderArgs, MutationCancelOrderArgs, MutationCreateOrderArgs } from '../generated/resolvers.ts';
import { parsePurchase } from './purchase.ts';
import type { Order } from './rules.ts';

type Info = MutationCall['info'];

/** Throws VALIDATION_ERROR, UNAUTHORIZED or BUSINESS_RULE_VIOLATION. */
export async function createOrder(args: MutationCreateOrderArgs, context: OrdersContext, info: Info): Promise<Order> {
  const purchase = parsePurchase(args.input);
  const { userId } = requireCaller(context);
  return context.write({ args, info }, ({ orders }) => orders.create(userId, purchase));
}

/** Throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
export function cancelOrder(args: MutationCancelOrderArgs, { write, caller }: OrdersContext, info: Info): Promise<Order> {
  const { id, expectedVersions } = args;
  return write({ args, info }, ({ orders }) => orders.cancel(id, { visibility: visibilityOf(caller), expectedVersions }));
}

/** Throws NOT_FOUND, PRECONDITION_FAILED or BUSINESS_RULE_VIOLATION. */
export function advanceOrder(args: MutationAdvanceOrderArgs, { write, caller }: OrdersContext, info: Info): Promise<Order> {
  const { id, to, expectedVersions } = args;
  return write({ args, info }, ({ orders }) => orders.advance(id, to, { visibility: visibilityOf(caller), expectedVersions }));
}
