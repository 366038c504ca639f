/** The engine `trestle`: prepares operations in the planner's thread, runs them here, and writes their answers once. */
import type { Log } from '@trestle/log';
import { ERRORS, Fault, fail } from '@trestle/schema/errors';
import type { Scope } from '@trestle/telemetry';
import type { Engine, EngineReply, EngineRequest } from './engine.ts';
import { type SubgraphErrors, needsCredential } from '../errors/format-error.ts';
import { type Limits, limitCost, limitVariables } from '../limits/limits.ts';
import { startPlannerThread } from '../plan/planner-thread.ts';
import { type Hub, type HubOptions, createHub } from '../subscriptions/subscription-registry.ts';
import { type Ready, type Snapshot, createSnapshot } from '../supergraph/snapshot.ts';
import { toOperationAttributes } from '../observability/tracing.ts';
import type { Upstreams } from '../upstream/upstream.ts';
import { type Writing, writeAnswer } from '../execute/answer.ts';
import { createBufferPool } from '../execute/buffer-pool.ts';
import { type Execution, execute } from '../execute/execute.ts';
import { ExecutionErrors } from '../execute/execution-errors.ts';
import { LocatedFault } from '../program/located-fault.ts';
import type { Operation } from '../program/operation.ts';
import { type PlanReport, createPlanReport } from '../execute/plan-report.ts';
import { createSend } from '../execute/send.ts';
import { addAliases, readVariables } from '../execute/variables.ts';

export interface TrestleEngineOptions {
  readonly supergraphSdl: string;
  readonly upstreams: Upstreams;
  readonly limits: Limits;
  /** Labels of progressive `@override` that hold. */
  readonly labels: readonly string[];
  readonly subscriptions: Pick<HubOptions, 'maxSubscriptions' | 'reconnectMs'>;
  readonly log: Log;
  /** What clients may know of subgraphs' errors. */
  readonly subgraphErrors: SubgraphErrors;
}

/** So many of the operations that are used most are prepared before a new supergraph is served. */
const WARM_OPERATIONS = 200;

export interface TrestleEngine extends Engine {
  readonly counts: { readonly hits: number; readonly misses: number };
  /** What runs for subscriptions, for metrics. */
  readonly hub: Pick<Hub, 'counts'>;
}

/** Rejects with the reason for a supergraph that can't be served. */
export async function createTrestleEngine(options: TrestleEngineOptions): Promise<TrestleEngine> {
  const { supergraphSdl, upstreams, limits, labels, log, subgraphErrors } = options;
  const load = async (sdl: string) => createSnapshot({ planner: await startPlannerThread(sdl, limits), upstreams, labels });
  const buffers = createBufferPool(limits.maxResponseBytes);
  let current = await load(supergraphSdl);
  const hub = createHub({ ...options.subscriptions, buffers, log, subgraphErrors });
  hub.take(current);

  return {
    hub,
    respond(request, done) {
      const snapshot = current;
      const answer = new Answering({ request, snapshot, limits, buffers, hub, log, subgraphErrors }, done);
      const ready = snapshot.find(request);
      if (ready) {
        answer.run(ready);
        return;
      }
      const span = request.context.trace?.start('GraphQL plan');
      snapshot.prepare(request, request.context.client).then(
        (prepared) => {
          span?.end();
          answer.run(prepared);
        },
        (error: unknown) => {
          span?.end();
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
      hub.take(next);
    },
    get hash() {
      return current.hash;
    },
    get counts() {
      return current.counts;
    },
    stop: async () => {
      hub.stop();
      await current.planner.stop();
      await upstreams.close();
    },
  };
}

interface Surroundings extends Writing {
  readonly request: EngineRequest;
  readonly snapshot: Snapshot;
  readonly limits: Limits;
  readonly hub: Hub;
}

/** One request on its way; every way ends in `done` once, but for a subscription's, which its listener is told of. */
class Answering {
  readonly #around: Surroundings;
  readonly #done: (reply: EngineReply) => void;
  #operation: Operation | undefined;
  #introspection: Readonly<Record<string, string>> = {};
  #report: PlanReport | undefined;
  /** From the start of the execution to its response. */
  #trace: Scope | undefined;
  #isOver = false;

  constructor(around: Surroundings, done: (reply: EngineReply) => void) {
    this.#around = around;
    this.#done = done;
  }

  run(ready: Ready): void {
    this.#guard(() => {
      if ('errors' in ready) this.#refuseDocument(ready);
      else this.#start(ready.operation);
    });
  }

  #start(operation: Operation): void {
    const { request, snapshot, limits } = this.#around;
    const { program, compiled } = operation;
    this.#operation = operation;
    if (program.kind === 'mutation' && request.isReadOnly) throw fail('METHOD_NOT_ALLOWED', 'Send mutations by POST');
    limitVariables(request.variables, limits, (name) => program.variables.find((each) => each.name === name)?.location);
    const conditions = readVariables(program.variables, request.variables);
    const variables = addAliases(program.variables, request.variables);
    limitCost(compiled.cost(conditions), limits, program.location);
    if (program.kind === 'subscription') {
      this.#listen(operation, { conditions, variables });
      return;
    }
    this.#report = request.tell.plan ? createPlanReport() : undefined;
    this.#trace = request.context.trace?.start('GraphQL execute', toOperationAttributes(program));
    const execution: Execution = {
      operation,
      observe: this.#report?.observe,
      variables,
      conditions,
      context: this.#trace ? { ...request.context, trace: this.#trace } : request.context,
      data: {},
      errors: new ExecutionErrors(program.shape),
      send: createSend(snapshot, this.#guard),
    };
    const { introspection } = program;
    if (introspection && !introspection.fixed) {
      const asked = { query: request.query, operationName: request.operationName, labels: [] };
      snapshot.planner.introspect(asked, conditions, request.context.client).then(
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

  #listen(operation: Operation, { conditions, variables }: Pick<Execution, 'conditions' | 'variables'>): void {
    const { snapshot, hub } = this.#around;
    const request = { ...this.#around.request, variables };
    const { listener } = request;
    if (!listener)
      throw fail('NOT_ACCEPTABLE', 'Subscriptions are told over WebSocket, text/event-stream or multipart/mixed;subscriptionSpec=1.0');
    hub.listen({ request, snapshot, operation, conditions }, listener);
  }

  /** What goes wrong in a callback must end the request, not the process. */
  readonly #guard = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      this.refuse(error);
    }
  };

  #finish(execution: Execution): void {
    const answer = writeAnswer(execution, { introspection: this.#introspection, extensions: this.#tell(execution) }, this.#around);
    const { bytes, length, told, isNull } = answer;
    this.#reply({
      outcome: isNull ? 'failed' : told.length > 0 ? 'partial' : 'complete',
      status: isNull && needsCredential(null, told) ? ERRORS.UNAUTHORIZED.status : undefined,
      bytes,
      length,
    });
  }

  /** What was asked for in `extensions`. */
  #tell({ operation: { program, compiled }, conditions, data }: Execution): object | undefined {
    const { request, snapshot } = this.#around;
    const { plan, cost, snapshot: hash } = request.tell;
    if (!plan && !cost && !hash) return undefined;
    return {
      ...(cost && { cost: { estimated: compiled.cost(conditions), actual: compiled.actualCost(data, conditions) } }),
      ...(hash && { supergraph: { hash: snapshot.hash } }),
      ...(this.#report && { plan: this.#report.write(program.plan) }),
    };
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
    const locations = fault instanceof LocatedFault && fault.locations.length > 0 ? { locations: fault.locations } : undefined;
    const told = { message, ...locations, extensions: { code, ...(details && { details }), requestId } };
    const bytes = Buffer.from(JSON.stringify({ errors: [told] }));
    const status = code === 'VALIDATION_ERROR' ? undefined : ERRORS[code].status;
    this.#reply({ outcome: 'refused', status, bytes, length: bytes.length });
  }

  #reply({ outcome, status, bytes, length }: Pick<EngineReply, 'outcome' | 'status' | 'bytes' | 'length'>): void {
    // A fault in the midst of a request ends it; what still comes back finds nobody.
    if (this.#isOver) return;
    this.#isOver = true;
    this.#trace?.end();
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
