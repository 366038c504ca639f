/** Calls the hooks around an operation: `onOperation` before the engine has it, `onResponse` with its result. */
import { type Fault, toFault } from '@trestle/schema/errors';
import { toRefusalResult } from '../errors/refusal-result.ts';
import { NO_STORE } from '../request/cache-policy.ts';
import type { RequestContext } from '../request/context.ts';
import type { ExtendedRequest } from '../request/extended-request.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { Hooks } from './compile-hooks.ts';
import { ReceivedEvent, WrittenEvent } from './operation-events.ts';

/** Calls back once, except for a subscription that its subscriber has begun. */
export type Execute = (request: OperationRequest, done: (result: OperationResult) => void) => void;

type OperationHooks = Pick<Hooks, 'onOperation' | 'onResponse'>;

/**
 * Returns the function with the hooks around it; the same function without these hooks. `check` throws the Fault of an operation that the client may
 * not send; it is called with what a hook has put in the place of the client's operation. Caches of others may not keep the result of such an
 * operation: they know the client's operation only, and the hook may have read any header.
 */
export function extendExecution(execute: Execute, hooks: OperationHooks, check: (request: OperationRequest) => void): Execute {
  const { onOperation, onResponse } = hooks;
  if (!onOperation && !onResponse) return execute;
  const finish = withResponseHook(onResponse);
  return (request, done) => {
    const { extended } = request.context;
    if (!extended) {
      execute(request, done);
      return;
    }
    const end = (result: OperationResult) => {
      finish(extended, { result, context: request.context, done });
    };
    if (!onOperation) {
      execute(request, end);
      return;
    }
    const event = new ReceivedEvent(extended, request);
    onOperation(event, (refusal) => {
      const operation = event.toOperation();
      const isReplaced = operation !== request;
      const fault = refusal ?? (isReplaced ? findFault(check, operation) : undefined);
      if (fault) end(toRefusalResult(fault, request.context.requestId));
      else if (isReplaced)
        execute(operation, (result) => {
          end({ ...result, caching: NO_STORE });
        });
      else execute(operation, end);
    });
  };
}

interface Finished {
  readonly result: OperationResult;
  readonly context: Pick<RequestContext, 'requestId' | 'cancellation'>;
  readonly done: (result: OperationResult) => void;
}

/** Returns the function that passes on a result once `onResponse` has seen it. */
function withResponseHook(onResponse: OperationHooks['onResponse']): (extended: ExtendedRequest, finished: Finished) => void {
  if (!onResponse)
    return (_, { result, done }) => {
      done(result);
    };
  return (extended, { result, context, done }) => {
    const event = new WrittenEvent(extended, result);
    onResponse(event, (fault) => {
      const written = event.toResult();
      if (fault) discard(written, context);
      const { operationKind, operationName } = result;
      done(fault ? { ...toRefusalResult(fault, context.requestId), operationKind, operationName } : written);
    });
  };
}

/** Ends a result that is not sent. What would follow it ends at once, because its fetches are cancelled. */
function discard({ release, rest }: OperationResult, { cancellation }: Finished['context']): void {
  release?.();
  if (!rest) return;
  cancellation.cancel();
  rest(() => undefined);
}

/** Returns the fault that `check` throws, if any. */
function findFault(check: (request: OperationRequest) => void, operation: OperationRequest): Fault | undefined {
  try {
    check(operation);
    return undefined;
  } catch (error) {
    return toFault(error);
  }
}
