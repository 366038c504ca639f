/** Begins a subscription, once extensions allow it. */
import { type Fault, fail } from '@trestle/schema/errors';
import { toDenialFault } from '../access/denial.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import { toSubscribeEvent } from '../extensions/operation-events.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { SubscriptionRegistry } from '../subscriptions/subscription-registry.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { CheckedOperation } from './check-planned.ts';

/** graphql-js finds no fault in it: it counts the root fields after the conditions, and refuses more than one. */
const NO_FIELD = 'The subscription selects no field. Its root field must not have @skip or @include.';

export interface SubscriptionParts {
  readonly request: OperationRequest;
  readonly snapshot: Snapshot;
  readonly registry: SubscriptionRegistry;
  readonly hooks: Pick<Hooks, 'onSubscribe'>;
  /** Goes on, unless a fault ends the run. */
  readonly proceed: (fault: Fault | undefined, act: () => void) => void;
}

/**
 * Throws NOT_ACCEPTABLE for a request whose client can receive no events, the denial of its only field, VALIDATION_ERROR where it selects none, and
 * what the subscriber and the registry throw.
 */
export function beginSubscription({ operation, variables, conditions }: CheckedOperation, parts: SubscriptionParts): void {
  const { request, snapshot, registry, hooks, proceed } = parts;
  const { subscriber } = request;
  if (!subscriber)
    throw fail(
      'NOT_ACCEPTABLE',
      'Subscriptions need a WebSocket, or `Accept: text/event-stream` or `multipart/mixed;subscriptionSpec=1.0`.',
    );
  // A subscription has one root field (GraphQL §5.2.4): without it there is no source stream.
  if (!operation.program.source) {
    const [denial] = operation.program.denials;
    throw denial ? toDenialFault(denial, request.context.caller) : fail('VALIDATION_ERROR', NO_FIELD);
  }
  const subscribe = () => {
    subscriber.requireRoom?.();
    registry.subscribe({ request: { ...request, variables }, snapshot, operation, conditions }, subscriber);
    // A subscription that has begun has no result: it counts as one request.
    request.usage?.end({ isError: false, isCached: false });
  };
  const { extended } = request.context;
  const { onSubscribe } = hooks;
  if (extended && onSubscribe)
    onSubscribe(toSubscribeEvent(extended, request), (refusal) => {
      proceed(refusal, subscribe);
    });
  else subscribe();
}
