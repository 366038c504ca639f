/** Runs an operation with deferred fragments: its first response is the result of the run, and the others follow it. */
import { toFault } from '@trestle/schema/errors';
import type { CachedRun } from '../cache/cached-run.ts';
import { DeferredExecution, type DeferredExecutionOptions } from '../execute/deferred/deferred-execution.ts';
import { type WriteOptions, writeFirst, writePart } from '../execute/deferred/write-parts.ts';
import { type Writing, formatAndLog } from '../execute/write-result.ts';
import { formatFault } from '../errors/format-fault.ts';
import { createSendFetch } from '../execute/send-fetch.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import type { RequestContext } from '../request/context.ts';
import type { IncrementalFormat, OperationRequest, OperationResult } from '../request/operation.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { CheckedOperation } from './check-planned.ts';
import type { Ending } from './write-executed.ts';

export interface IncrementalRunOptions extends Pick<DeferredExecutionOptions, 'program' | 'request'> {
  readonly writing: Writing;
  readonly spec: IncrementalFormat;
}

/** The first response, and what follows; without `rest` nothing is deferred. */
export type FirstResponse = Pick<OperationResult, 'bytes' | 'rest'> & { readonly isNull: boolean; readonly hasErrors: boolean };

const BUFFER_BYTES = 16 * 1024;

export class IncrementalRun {
  readonly #options: IncrementalRunOptions;
  readonly #execution: DeferredExecution;
  #send: ((bytes: Buffer, isLast: boolean) => void) | undefined;
  #isEnded = false;

  constructor(options: IncrementalRunOptions) {
    this.#options = options;
    const { request, program, writing } = options;
    const { maxBytes } = writing.buffers;
    this.#execution = new DeferredExecution({ request, program, buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES), maxBytes });
  }

  /** Whether the first response has been passed on: later exceptions end the responses that follow. */
  get hasFollowing(): boolean {
    return this.#send !== undefined;
  }

  start(done: (first: FirstResponse) => void): void {
    const options = this.#toWriteOptions();
    this.#execution.first((delivery, pending) => {
      const isNull = delivery.data === 'null';
      const hasErrors = delivery.errors.length > 0;
      if (pending.length > 0) {
        done({ bytes: writeFirst(delivery, pending, options), rest: this.#follow, isNull, hasErrors });
        return;
      }
      const errors = hasErrors ? `,"errors":${JSON.stringify(options.format(delivery.errors))}` : '';
      done({ bytes: Buffer.from(`{"data":${delivery.data}${errors}}`), isNull, hasErrors });
    });
  }

  /** Ends the responses because of an exception. */
  fail(error: unknown): void {
    const { request, writing } = this.#options;
    const { requestId } = request.context;
    const fault = toFault(error);
    writing.log.error('request failed', { requestId, code: fault.code, error: fault.cause });
    this.#end(Buffer.from(JSON.stringify({ errors: [formatFault(fault, requestId)], hasNext: false })));
  }

  readonly #follow = (send: (bytes: Buffer, isLast: boolean) => void): void => {
    this.#send = send;
    const options = this.#toWriteOptions();
    try {
      this.#execution.rest((part) => {
        const bytes = writePart(part, options);
        if (!part.hasNext) this.#end(bytes);
        else if (!this.#isEnded) send(bytes, false);
      });
    } catch (error) {
      this.fail(error);
    }
  };

  #end(bytes: Buffer): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#send?.(bytes, true);
  }

  #toWriteOptions(): WriteOptions {
    const { request, writing, spec } = this.#options;
    return { spec, format: (errors) => (errors.length === 0 ? [] : formatAndLog(errors, request, writing)) };
  }
}

/** Whether the result of an operation is delivered in parts. A report is about the whole. */
export function isIncremental({ operation }: CheckedOperation, { context, incremental, reports }: OperationRequest): boolean {
  if (operation.deferred === undefined || incremental === undefined || context.upload) return false;
  return !reports.plan && !reports.cost && !reports.supergraph;
}

/** What an engine executes with. */
export interface IncrementalParts extends Pick<IncrementalRunOptions, 'writing'> {
  readonly request: OperationRequest;
  readonly snapshot: Pick<Snapshot, 'upstream'>;
  readonly hooks: Hooks;
}

/** One execution. */
export interface IncrementalExecution {
  readonly checked: CheckedOperation;
  /** That of the request, with the span of the execution. */
  readonly context: RequestContext;
  /** Of a mutation, where results are kept. */
  readonly cached: CachedRun | undefined;
  /** Called with an exception before the first response. */
  readonly refuse: (error: unknown) => void;
}

/** Executes an operation for which {@link isIncremental} is true, and calls back with its first response. */
export function runIncremental(
  { request, snapshot, hooks, writing }: IncrementalParts,
  { checked, context, cached, refuse }: IncrementalExecution,
  done: (ending: Ending) => void,
): void {
  const { operation, variables, conditions } = checked;
  const { deferred } = operation;
  const program = operation.program.deferred;
  const spec = request.incremental;
  if (!deferred || !program || !spec) throw new Error('The operation is not incremental');
  const guard = (act: () => void) => {
    try {
      act();
    } catch (error) {
      if (run.hasFollowing) run.fail(error);
      else refuse(error);
    }
  };
  const plain = createSendFetch(snapshot.upstream, guard, cached ? cached.observe(hooks) : hooks);
  const send = cached ? cached.watch(plain) : plain;
  const execution = { operation: { ...operation, deferred }, variables, conditions, context, send };
  const run = new IncrementalRun({ request: execution, program, writing, spec });
  run.start(({ bytes, rest, isNull, hasErrors }) => {
    const outcome = isNull ? 'failed' : hasErrors ? 'partial' : 'complete';
    done({ outcome, status: undefined, challenge: undefined, bytes, length: bytes.length, rest });
  });
}
