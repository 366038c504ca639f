/** Calls the hooks around an operation: `onOperation` before the engine has it, `onResponse` with its result. */
import { toRefusalResult } from '../errors/refusal-result.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { Hooks } from './compile-hooks.ts';
import { toOperationEvent, toResponseEvent } from './events.ts';

/** Calls back once, except for a subscription that its subscriber has begun. */
export type Execute = (request: OperationRequest, done: (result: OperationResult) => void) => void;

/** Returns the function with the hooks around it; the same function without these hooks. */
export function extendExecution(execute: Execute, { onOperation, onResponse }: Pick<Hooks, 'onOperation' | 'onResponse'>): Execute {
  if (!onOperation && !onResponse) return execute;
  return (request, done) => {
    const { extended, requestId } = request.context;
    if (!extended) {
      execute(request, done);
      return;
    }
    const finish = (result: OperationResult) => {
      if (!onResponse) {
        done(result);
        return;
      }
      onResponse(toResponseEvent(extended, result), (fault) => {
        if (fault) result.release?.();
        const { operationKind, operationName } = result;
        done(fault ? { ...toRefusalResult(fault, requestId), operationKind, operationName } : result);
      });
    };
    if (!onOperation) {
      execute(request, finish);
      return;
    }
    onOperation(toOperationEvent(extended, request), (fault) => {
      if (fault) finish(toRefusalResult(fault, requestId));
      else execute(request, finish);
    });
  };
}
