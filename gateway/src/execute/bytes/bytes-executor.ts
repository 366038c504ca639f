/** Executes operations on the bytes of responses (ADR 23), and with objects where an operation or a response does not allow that. */
import type { Operation } from '../../program/operation.ts';
import type { PlanStep } from '../../program/program.ts';
import type { BufferPool } from '../buffer-pool.ts';
import { execute } from '../execute.ts';
import type { Executor, ExecutorRequest } from '../executor.ts';
import { type Arena, ArenaPool, OutOfMemory } from './arena.ts';
import { BytesExecution, type HandOverReason } from './bytes-execution.ts';
import { BytesOperation } from './bytes-operation.ts';

/**
 * How an execution ended: on bytes, or why with objects. `unsupported`: the operation; `report`: the client wants a report about the plan; `pause`:
 * earlier responses differed.
 */
export type ExecutionPath = 'bytes' | 'unsupported' | 'report' | 'pause' | HandOverReason;

export interface BytesExecutorOptions {
  readonly buffers: BufferPool;
  readonly arenas?: ArenaPool;
  /** Called once for each execution. */
  readonly count: (operation: string | undefined, path: ExecutionPath) => void;
}

/** Creates the executor. */
export function createBytesExecutor({ buffers, arenas = new ArenaPool(), count }: BytesExecutorOptions): Executor {
  const linked = new WeakMap<Operation, BytesOperation | null>();
  const linkOnce = (operation: Operation) => {
    let known = linked.get(operation);
    if (known === undefined) linked.set(operation, (known = BytesOperation.link(operation)));
    return known;
  };
  /** Returns how to execute on bytes, or why not. */
  const prepare = ({ operation: given, needsObjects }: ExecutorRequest): Prepared | ExecutionPath => {
    const { plan } = given.program;
    const operation = linkOnce(given);
    if (!operation || !plan) return 'unsupported';
    if (needsObjects) return 'report';
    if (!operation.isReady()) return 'pause';
    const arena = takeArena(arenas, operation.sizeClass);
    return arena ? { operation, plan, arena } : 'memory';
  };
  return {
    execute(request, done) {
      const { name } = request.operation.program;
      const prepared = prepare(request);
      if (typeof prepared === 'string') {
        count(name, prepared);
        execute(request, done);
        return;
      }
      const { operation, plan, arena } = prepared;
      const execution = new BytesExecution(
        { operation, arena, request, buffers },
        {
          onAssembled(result) {
            count(name, 'bytes');
            done(result);
          },
          onHandOver(reason, received) {
            count(name, reason);
            if (reason === 'difference') operation.noteDifference();
            execute({ ...request, received }, done);
          },
        },
      );
      execution.start(plan);
    },
  };
}

interface Prepared {
  readonly operation: BytesOperation;
  readonly plan: PlanStep;
  readonly arena: Arena;
}

/** Returns undefined when the arenas together are too large. */
function takeArena(arenas: ArenaPool, sizeClass: number): Arena | undefined {
  try {
    return arenas.take(sizeClass);
  } catch (error) {
    if (error instanceof OutOfMemory) return undefined;
    throw error;
  }
}
