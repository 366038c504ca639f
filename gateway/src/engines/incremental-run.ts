/** Runs an operation with deferred fragments: its first response is the result of the run, and the others follow it. */
import { toFault } from '@trestle/schema/errors';
import type { GraphQLFormattedError } from 'graphql';
import type { CachedRun } from '../cache/cached-run.ts';
import { DeferredExecution, type DeferredExecutionOptions } from '../execute/deferred/deferred-execution.ts';
import { type WriteOptions, writeFirst, writePart } from '../execute/deferred/write-parts.ts';
import { type Writing, formatAndLog } from '../execute/write-result.ts';
import { toRefusedResult } from '../errors/format-error.ts';
import { formatFault } from '../errors/format-fault.ts';
import { createSendFetch } from '../execute/send-fetch.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import type { Limits } from '../limits/limits.ts';
import type { CostMetrics } from '../observability/cost-metrics.ts';
import type { Data } from '../program/program.ts';
import type { RequestContext } from '../request/context.ts';
import type { IncrementalFormat, OperationRequest, OperationResult, Outcome, SendPart } from '../request/operation.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { CheckedOperation } from './check-planned.ts';
import type { Ending } from './write-executed.ts';

export interface IncrementalRunOptions extends Pick<DeferredExecutionOptions, 'program' | 'request'> {
  readonly writing: Writing;
  readonly spec: IncrementalFormat;
  /** Called once, with the data of all responses. */
  readonly onEnd: (data: Data) => void;
}

/** The first response, and what follows; without `rest` nothing is deferred. */
export type FirstResponse = Pick<OperationResult, 'outcome' | 'status' | 'challenge' | 'bytes' | 'rest'>;

const BUFFER_BYTES = 16 * 1024;

export class IncrementalRun {
  readonly #options: IncrementalRunOptions;
  readonly #execution: DeferredExecution;
  readonly #errors: GraphQLFormattedError[] = [];
  #send: SendPart | undefined;
  #isEnded = false;

  constructor(options: IncrementalRunOptions) {
    this.#options = options;
    const { request, program, writing } = options;
    const { maxBytes } = writing.buffers;
    this.#execution = new DeferredExecution({ request, program, buffer: Buffer.allocUnsafeSlow(BUFFER_BYTES), maxBytes });
  }

  /** The errors of all responses so far. */
  get errors(): readonly GraphQLFormattedError[] {
    return this.#errors;
  }

  /** Whether the first response has been passed on: later exceptions end the responses that follow. */
  get hasFollowing(): boolean {
    return this.#send !== undefined;
  }

  start(done: (first: FirstResponse) => void): void {
    const options = this.#toWriteOptions();
    this.#execution.first((delivery, pending) => {
      if (pending.length > 0) {
        const bytes = writeFirst(delivery, pending, options);
        done({ outcome: this.#outcome, status: undefined, challenge: undefined, bytes, rest: this.#follow });
        return;
      }
      const formatted = options.format(delivery.errors);
      const isNull = delivery.data === 'null';
      const refused = isNull ? toRefusedResult(null, formatted) : undefined;
      const errors = formatted.length > 0 ? `,"errors":${JSON.stringify(formatted)}` : '';
      const bytes = Buffer.from(`{"data":${delivery.data}${errors}}`);
      this.#options.onEnd(this.#execution.data);
      done({ outcome: isNull ? 'failed' : this.#outcome, status: refused?.status, challenge: refused?.challenge, bytes });
    });
  }

  /** Ends the responses because of an exception. */
  fail(error: unknown): void {
    const { request, writing } = this.#options;
    const { requestId } = request.context;
    const fault = toFault(error);
    writing.log.error('request failed', { requestId, code: fault.code, error: fault.cause });
    const formatted = formatFault(fault, requestId);
    this.#errors.push(formatted);
    this.#end(Buffer.from(JSON.stringify({ errors: [formatted], hasNext: false })));
  }

  readonly #follow = (send: SendPart): void => {
    this.#send = send;
    const options = this.#toWriteOptions();
    try {
      this.#execution.rest((part) => {
        const bytes = writePart(part, options);
        if (!part.hasNext) this.#end(bytes);
        else if (!this.#isEnded) send(bytes, undefined);
      });
    } catch (error) {
      this.fail(error);
    }
  };

  #end(bytes: Buffer): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#options.onEnd(this.#execution.data);
    this.#send?.(bytes, this.#outcome);
  }

  /** Of all responses so far, where the first has data. */
  get #outcome(): Outcome {
    return this.#errors.length > 0 ? 'partial' : 'complete';
  }

  #toWriteOptions(): WriteOptions {
    const { request, writing, spec } = this.#options;
    const format: WriteOptions['format'] = (errors) => {
      if (errors.length === 0) return [];
      const formatted = formatAndLog(errors, request, writing);
      for (const each of formatted) this.#errors.push(each);
      return formatted;
    };
    return { spec, format };
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
  readonly limits: Pick<Limits, 'costMode'>;
  readonly costs: Pick<CostMetrics, 'observeActual'>;
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
  { request, snapshot, hooks, writing, limits, costs }: IncrementalParts,
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
  const onEnd = (data: Data) => {
    if (request.usage) request.usage.errors = run.errors;
    if (limits.costMode === 'measure') costs.observeActual(operation.compiled.actualCost(data, conditions));
  };
  const run = new IncrementalRun({ request: execution, program, writing, spec, onEnd });
  run.start((first) => {
    done({ ...first, length: first.bytes.length });
  });
}
