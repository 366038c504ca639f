/** Executes a subscription for one event of its source stream (GraphQL §6.2.3.2): merges the event, executes the rest of the plan, writes the result. */
import { INTERNAL_ERROR_MESSAGE } from '@trestle/schema/errors';
import type { Cancellation } from '@trestle/service/process/cancellation';
import { executeEventPlan } from '../execute/execute.ts';
import { type FetchHooks, createSendFetch } from '../execute/send-fetch.ts';
import { type Writing, NO_EXTRAS, writeResult } from '../execute/write-result.ts';
import type { Operation } from '../program/operation.ts';
import type { SubgraphResult } from '../program/result.ts';
import { type RequestContext, renewContext } from '../request/context.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';

/** An operation and the snapshot that it was planned for. */
export interface PlannedOperation {
  readonly snapshot: Snapshot;
  readonly operation: Operation;
}

export interface EventRequest {
  readonly planned: PlannedOperation;
  readonly event: SubgraphResult;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  readonly extensions?: object | undefined;
}

/** Calls back with the result as JSON. A failure becomes a result with an error. Returns what cancels the fetches. */
export function executeEvent(
  { planned, event, variables, conditions, context, extensions }: EventRequest,
  { hooks, ...writing }: Writing & { readonly hooks: FetchHooks },
  done: (bytes: Buffer) => void,
): Cancellation {
  const { snapshot, operation } = planned;
  const own = renewContext(context);
  const guard = (act: () => void) => {
    try {
      act();
    } catch (error) {
      const { requestId } = context;
      writing.log.error('request failed', { requestId, code: 'INTERNAL_ERROR', error });
      done(toFailedResult(requestId, extensions));
    }
  };
  guard(() => {
    const send = createSendFetch(snapshot.upstream, guard, hooks);
    executeEventPlan({ operation, variables, conditions, context: own, send }, event, (executed) => {
      const { bytes, length } = writeResult(executed, extensions ? { ...NO_EXTRAS, extensions } : NO_EXTRAS, writing);
      // A copy, since a slow client may keep the result for long and the buffer returns to the pool.
      const copy = Buffer.from(bytes.subarray(0, length));
      writing.buffers.give(bytes);
      done(copy);
    });
  });
  return own.cancellation;
}

function toFailedResult(requestId: string, extensions: object | undefined): Buffer {
  const errors = [{ message: INTERNAL_ERROR_MESSAGE, extensions: { code: 'INTERNAL_ERROR', requestId } }];
  return Buffer.from(JSON.stringify({ data: null, errors, ...(extensions && { extensions }) }));
}
