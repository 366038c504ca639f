/** The engine `trestle`: prepares operations in the planner's thread, runs them here, and writes their answers once. */
import type { Log } from '@trestle/log';
import { ERRORS, Fault, fail } from '@trestle/schema/errors';
import type { GraphQLFormattedError } from 'graphql';
import type { Engine, EngineReply, EngineRequest } from '../engine.ts';
import { finishErrors, isOurFault, needsCredential } from '../errors.ts';
import { type Limits, limitCost, limitVariables } from '../limits/limits.ts';
import { startPlannerThread } from '../plan/planner-thread.ts';
import { type Ready, type Snapshot, createSnapshot } from '../supergraph/snapshot.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { type BufferPool, createBufferPool } from './buffer-pool.ts';
import { type AnswerError, type Execution, addValueFaults, execute } from './execute.ts';
import type { Operation } from './operation.ts';
import { type PlanReport, createPlanReport } from './plan-report.ts';
import type { Written } from './program.ts';
import { readVariables } from './variables.ts';

export interface TrestleEngineOptions {
  readonly supergraphSdl: string;
  readonly upstreams: Upstreams;
  readonly limits: Limits;
  /** Labels of progressive `@override` that hold. */
  readonly labels: readonly string[];
  readonly log: Log;
}

/** So many of the operations that are used most are prepared before a new supergraph is served. */
const WARM_OPERATIONS = 200;

export interface TrestleEngine extends Engine {
  readonly counts: { readonly hits: number; readonly misses: number };
}

/** Rejects with the reason for a supergraph that can't be served. */
export async function createTrestleEngine({ supergraphSdl, upstreams, limits, labels, log }: TrestleEngineOptions): Promise<TrestleEngine> {
  const load = async (sdl: string) => createSnapshot({ planner: await startPlannerThread(sdl, limits), upstreams, labels });
  const buffers = createBufferPool();
  let current = await load(supergraphSdl);

  return {
    respond(request, done) {
      const snapshot = current;
      const answer = new Answering({ request, snapshot, limits, buffers, log }, done);
      const ready = snapshot.find(request);
      if (ready) {
        answer.run(ready);
        return;
      }
      const endPlan = request.context.trace?.start('plan');
      snapshot.prepare(request).then(
        (prepared) => {
          endPlan?.();
          answer.run(prepared);
        },
        (error: unknown) => {
          endPlan?.();
          answer.refuse(error);
        },
      );
    },
    async swap(sdl) {
      const next = await load(sdl);
      // What can't be prepared now is told to whoever asks for it.
      for (const request of current.mostUsed(WARM_OPERATIONS)) await next.prepare(request).catch(() => undefined);
      const last = current;
      current = next;
      last.planner.retire();
    },
    get hash() {
      return current.hash;
    },
    get counts() {
      return current.counts;
    },
    stop: async () => {
      await current.planner.stop();
      await upstreams.close();
    },
  };
}

interface Surroundings {
  readonly request: EngineRequest;
  readonly snapshot: Snapshot;
  readonly limits: Limits;
  readonly buffers: BufferPool;
  readonly log: Log;
}

/** Where the data stand in `{"data":…`, and what they begin with when they are null. */
const DATA_AT = 8;
const LETTER_N = 0x6e;

/** One request on its way; every way ends in `done` once. */
class Answering {
  readonly #around: Surroundings;
  readonly #done: (reply: EngineReply) => void;
  #operation: Operation | undefined;
  #introspection: Readonly<Record<string, string>> = {};
  #report: PlanReport | undefined;
  #isOver = false;

  constructor(around: Surroundings, done: (reply: EngineReply) => void) {
    this.#around = around;
    this.#done = done;
  }

  run(ready: Ready): void {
    try {
      if ('errors' in ready) this.#refuseDocument(ready);
      else this.#start(ready.operation);
    } catch (error) {
      this.refuse(error);
    }
  }

  #start(operation: Operation): void {
    const { request, snapshot, limits } = this.#around;
    const { program, compiled } = operation;
    this.#operation = operation;
    if (program.kind === 'mutation' && request.isReadOnly) throw fail('METHOD_NOT_ALLOWED', 'Send mutations by POST');
    if (program.kind === 'subscription') throw fail('NOT_IMPLEMENTED', 'Subscriptions have no door yet');
    limitVariables(request.variables);
    const conditions = readVariables(program.variables, request.variables);
    limitCost(compiled.cost(conditions), limits);
    this.#report = request.tell.plan ? createPlanReport() : undefined;
    const execution: Execution = {
      operation,
      observe: this.#report?.observe,
      variables: request.variables,
      conditions,
      context: request.context,
      data: {},
      errors: [],
      send: (fetch, done) => {
        const upstream = snapshot.upstream(fetch.service);
        if (!upstream) {
          done({ code: 'UPSTREAM_ERROR', message: `The subgraph ${fetch.service} has no address`, cause: undefined }, {});
          return;
        }
        const traced = fetch.context.trace?.startFetch(fetch.service);
        const { context } = fetch;
        upstream.send(
          traced ? { ...fetch, context: { ...context, headers: [...context.headers, ...traced.headers] } } : fetch,
          (failure, answer) => {
            traced?.end(failure?.code);
            this.#guard(() => {
              done(failure, answer);
            });
          },
        );
      },
    };
    const { introspection } = program;
    if (introspection && !introspection.fixed) {
      snapshot.planner.introspect({ query: request.query, operationName: request.operationName, labels: [] }, conditions).then(
        (texts) => {
          this.#introspection = texts;
          this.#guard(() => {
            execute(execution, () => {
              this.#finish(execution);
            });
          });
        },
        (error: unknown) => {
          this.refuse(error);
        },
      );
      return;
    }
    this.#introspection = introspection?.fixed ?? {};
    execute(execution, () => {
      this.#finish(execution);
    });
  }

  /** What goes wrong in a callback must end the request, not the process. */
  #guard(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.refuse(error);
    }
  }

  #finish(execution: Execution): void {
    const { operation, data, errors, conditions, context } = execution;
    const { buffers } = this.#around;
    const { write, explain } = operation.compiled;
    const request = { conditions, introspection: this.#introspection, buffer: buffers.take(), faults: [] };
    const endWrite = context.trace?.start('write');
    const written = write(data, request) ?? this.#explain(explain, { execution, request });
    endWrite?.();
    const told = errors.length > 0 ? this.#tellErrors(errors) : [];
    const { bytes, length } = told.length > 0 || this.#tells ? this.#append(written, { execution, told }) : close(written);
    const isNull = bytes[DATA_AT] === LETTER_N;
    this.#reply({
      outcome: isNull ? 'failed' : told.length > 0 ? 'partial' : 'complete',
      status: isNull && needsCredential(null, told) ? ERRORS.UNAUTHORIZED.status : undefined,
      bytes,
      length,
    });
  }

  /** Gives the errors as the client reads them, and logs those that are not the client's fault. */
  #tellErrors(errors: readonly AnswerError[]): GraphQLFormattedError[] {
    const { requestId, trail } = this.#around.request.context;
    for (const error of errors) {
      // Whose client has gone has fetches that were cut off, which is nobody's fault.
      if (!isOurFault(error) || trail.isAborted) continue;
      const { code, service } = error.extensions;
      this.#around.log.error('request failed', {
        requestId,
        code: String(code),
        ...(typeof service === 'string' && { subgraph: service }),
        ...(error.cause !== undefined && { error: error.cause }),
      });
    }
    return finishErrors(errors, requestId);
  }

  #explain(
    explain: Operation['compiled']['explain'],
    { execution, request }: { execution: Execution; request: Parameters<typeof explain>[1] },
  ): Written {
    const written = explain(execution.data, request) as Written;
    addValueFaults(execution.errors, request.faults);
    return written;
  }

  get #tells(): boolean {
    const { plan, cost, snapshot } = this.#around.request.tell;
    return plan || cost || snapshot;
  }

  /** The rest of the answer after its data: errors and extensions. */
  #append({ bytes, length }: Written, { execution, told }: { execution: Execution; told: readonly GraphQLFormattedError[] }): Written {
    const { request, snapshot } = this.#around;
    const { compiled } = execution.operation;
    const extensions = {
      ...(request.tell.cost && {
        cost: { estimated: compiled.cost(execution.conditions), actual: compiled.actualCost(execution.data, execution.conditions) },
      }),
      ...(request.tell.snapshot && { supergraph: { hash: snapshot.hash } }),
      ...(this.#report && { plan: this.#report.write(execution.operation.program.plan) }),
    };
    const rest = `${told.length > 0 ? `,"errors":${JSON.stringify(told)}` : ''}${this.#tells ? `,"extensions":${JSON.stringify(extensions)}` : ''}}`;
    const tail = Buffer.from(rest);
    const all = bytes.length >= length + tail.length ? bytes : Buffer.concat([bytes.subarray(0, length)], length + tail.length);
    tail.copy(all, length);
    return { bytes: all, length: length + tail.length };
  }

  #refuseDocument({ errors, isPlanned, reason }: Extract<Ready, { errors: unknown }>): void {
    const { request, log } = this.#around;
    const { requestId } = request.context;
    if (reason !== undefined) log.error('can not be planned', { requestId, error: new Error(reason) });
    const code = isPlanned ? 'UPSTREAM_ERROR' : 'VALIDATION_ERROR';
    const told = errors.map(({ message, locations }) => ({ message, ...(locations && { locations }), extensions: { code, requestId } }));
    const bytes = Buffer.from(JSON.stringify(isPlanned ? { data: null, errors: told } : { errors: told }));
    this.#reply({ outcome: isPlanned ? 'failed' : 'refused', status: undefined, bytes, length: bytes.length });
  }

  /** Ends the request before it was run, or in the midst of it by a fault of ours. */
  refuse(error: unknown): void {
    const { request, log } = this.#around;
    const { requestId } = request.context;
    const fault = error instanceof Fault ? error : fail('INTERNAL_ERROR', 'Something went wrong on our side', { cause: error });
    if (fault.code === 'INTERNAL_ERROR') log.error('request failed', { requestId, code: fault.code, error: fault.cause });
    const { code, message, details } = fault;
    const bytes = Buffer.from(JSON.stringify({ errors: [{ message, extensions: { code, ...(details && { details }), requestId } }] }));
    const status = code === 'VALIDATION_ERROR' ? undefined : ERRORS[code].status;
    this.#reply({ outcome: 'refused', status, bytes, length: bytes.length });
  }

  #reply({ outcome, status, bytes, length }: Pick<EngineReply, 'outcome' | 'status' | 'bytes' | 'length'>): void {
    // A fault in the midst of a request ends it; what still comes back finds nobody.
    if (this.#isOver) return;
    this.#isOver = true;
    const program = this.#operation?.program;
    const release = this.#isPooled(bytes) ? this.#release(bytes) : undefined;
    this.#done({ outcome, status, bytes, length, release, operationKind: program?.kind, operationName: program?.name });
  }

  #isPooled(bytes: Buffer): boolean {
    return this.#around.buffers.isPooled(bytes);
  }

  #release(bytes: Buffer): () => void {
    return () => {
      this.#around.buffers.give(bytes);
    };
  }
}

function close({ bytes, length }: Written): Written {
  bytes[length] = 0x7d;
  return { bytes, length: length + 1 };
}
