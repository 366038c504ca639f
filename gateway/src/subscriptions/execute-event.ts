/** Makes one event a result: what its subgraph told, the rest of the plan, and the writing of both. */
import { NO_EXTRAS, type Writing, writeAnswer } from '../execute/answer.ts';
import { type Execution, type SubgraphAnswer, execute, takeEvent } from '../execute/execute.ts';
import { ExecutionErrors } from '../execute/execution-errors.ts';
import type { Operation } from '../program/operation.ts';
import { createSend } from '../execute/send.ts';
import type { EngineContext } from '../engines/engine.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import { createTrail } from '../request/trail.ts';

/** An operation of the snapshot that serves it. */
export interface Serving {
  readonly snapshot: Snapshot;
  readonly operation: Operation;
}

export interface EventRequest {
  readonly serving: Serving;
  readonly answer: SubgraphAnswer;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables with their defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly context: EngineContext;
  /** What is told in `extensions`. */
  readonly extensions?: object | undefined;
}

/** Calls back with the result's own bytes; what goes wrong becomes a result that tells so. */
export function completeEvent(
  { serving, answer, variables, conditions, context, extensions }: EventRequest,
  writing: Writing,
  done: (bytes: Buffer) => void,
): void {
  const { snapshot, operation } = serving;
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
    const execution: Execution = {
      operation,
      variables,
      conditions,
      context: { ...context, trail: createTrail() },
      data: {},
      errors: new ExecutionErrors(operation.program.shape),
      send: createSend(snapshot, guard),
    };
    takeEvent(execution, answer);
    execute(execution, () => {
      done(write(execution, extensions, writing));
    });
  });
}

/** Who is slow may hold the bytes for long: they are no longer the pool's. */
function write(execution: Execution, extensions: object | undefined, writing: Writing): Buffer {
  const { bytes, length } = writeAnswer(execution, extensions ? { ...NO_EXTRAS, extensions } : NO_EXTRAS, writing);
  const own = Buffer.from(bytes.subarray(0, length));
  writing.buffers.give(bytes);
  return own;
}

function toFailedResult(requestId: string, extensions: object | undefined): Buffer {
  const errors = [{ message: 'Something went wrong on our side', extensions: { code: 'INTERNAL_ERROR', requestId } }];
  return Buffer.from(JSON.stringify({ data: null, errors, ...(extensions && { extensions }) }));
}
