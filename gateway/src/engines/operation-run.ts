/** One operation in the engine `trestle`: plan → coerce → limit → execute or subscribe → write. `pipeline.ts` shows the stages around it. */
import { type Fault, fail, toFault } from '@trestle/schema/errors';
import type { Scope } from '@trestle/telemetry';
import { toDenialFault } from '../access/denial.ts';
import { CachedRun } from '../cache/cached-run.ts';
import type { PendingResult } from '../cache/pending-result.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { toRefusedResult } from '../errors/format-error.ts';
import { toDocumentRefusal, toRefusalResult } from '../errors/refusal-result.ts';
import { checkFiles } from '../execute/check-files.ts';
import type { Executed } from '../execute/execute.ts';
import { type Assembled, type Executor, OBJECT_EXECUTOR } from '../execute/executor.ts';
import { type PlanReport, createPlanReport } from '../execute/plan-report.ts';
import { createSendFetch } from '../execute/send-fetch.ts';
import { addAliases } from '../execute/variables.ts';
import { type Writing, type WrittenResult, writeAssembled, writeResult } from '../execute/write-result.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import { toOperationEvent, toPlanEvent } from '../extensions/events.ts';
import { type Limits, toUnits } from '../limits/limits.ts';
import { toOperationAttributes } from '../observability/tracing.ts';
import { toPlannedPolicy } from '../program/cache-rule.ts';
import type { Operation } from '../program/operation.ts';
import type { IntrospectionResults } from '../program/program.ts';
import type { CachePolicy } from '../request/cache-policy.ts';
import { type Measure, renewContext } from '../request/context.ts';
import type { OperationRequest, OperationResult } from '../request/operation.ts';
import type { SubscriptionRegistry } from '../subscriptions/subscription-registry.ts';
import type { Executable } from '../supergraph/prepared-operations.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import { checkOperation } from './check-operation.ts';
import { writeReports } from './write-reports.ts';

export interface RunOptions {
  readonly request: OperationRequest;
  readonly snapshot: Snapshot;
  readonly limits: Limits;
  readonly registry: SubscriptionRegistry;
  readonly executor: Executor;
  readonly writing: Writing;
  readonly measure: Measure;
  readonly hooks: Hooks;
  /** Undefined where no results are kept. */
  readonly cache: ResponseCache | undefined;
}

/** An operation with its variables, within the limits. */
interface CheckedOperation {
  readonly operation: Operation;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** The estimated cost. */
  readonly cost: number;
}

/** How a run ends. */
type Ending = Pick<OperationResult, 'outcome' | 'status' | 'challenge' | 'bytes' | 'length'>;

const NO_INTROSPECTION: IntrospectionResults = {};

/** Every run ends with one result, except a subscription that its subscriber has begun. */
export class OperationRun {
  readonly #options: RunOptions;
  readonly #done: (result: OperationResult) => void;
  #operation: Operation | undefined;
  #caching: CachePolicy | undefined;
  #cached: CachedRun | undefined;
  /** The span of the execution, up to the result. */
  #span: Scope | undefined;
  #isDone = false;

  constructor(options: RunOptions, done: (result: OperationResult) => void) {
    this.#options = options;
    this.#done = done;
  }

  /** Plans the operation, unless a plan is cached, and runs it. */
  start(): void {
    const { request, snapshot } = this.#options;
    const ready = snapshot.find(request, request.context.caller);
    if (ready) {
      this.#run(ready);
      return;
    }
    const { trace, client, caller } = request.context;
    const span = trace?.start('GraphQL plan');
    snapshot.prepare(request, { access: snapshot.accessOf(caller), client }).then(
      (prepared) => {
        span?.end();
        this.#options.measure(client, () => {
          this.#run(prepared);
        });
      },
      (error: unknown) => {
        span?.end();
        this.#refuse(error);
      },
    );
  }

  #run(ready: Executable): void {
    this.#guard(() => {
      if ('errors' in ready) {
        this.#refuseDocument(ready);
        return;
      }
      this.#operation = ready.operation;
      const checked = this.#check(ready.operation);
      const { quota, extended } = this.#options.request.context;
      const { onPlan } = this.#options.hooks;
      quota.take(toUnits(checked.cost), (fault) => {
        this.#proceed(fault, () => {
          if (extended && onPlan)
            onPlan(toPlanEvent(extended, ready.operation.program, checked.cost), (refusal) => {
              this.#proceed(refusal, () => {
                this.#begin(checked);
              });
            });
          else this.#begin(checked);
        });
      });
    });
  }

  #begin(checked: CheckedOperation): void {
    const { cache } = this.#options;
    if (checked.operation.program.kind === 'subscription') this.#subscribe(checked);
    else if (cache) this.#findCached(cache, checked);
    else this.#introspect(checked);
  }

  /** Ends a query with the result that the cache has of it, and executes every other operation. */
  #findCached(cache: ResponseCache, checked: CheckedOperation): void {
    const { request, snapshot, measure } = this.#options;
    const { operation, conditions: variables } = checked;
    const policy = this.#caching;
    const { plan, cost, supergraph } = request.reports;
    const isMutation = operation.program.kind === 'mutation';
    // A report is about this execution.
    if (isMutation || (policy && !plan && !cost && !supergraph))
      this.#cached = new CachedRun({ cache, request, program: operation.program, hash: snapshot.hash });
    if (!this.#cached || isMutation || !policy) {
      this.#introspect(checked);
      return;
    }
    let isLater = false;
    this.#cached.find({ policy, variables }, (result, refresh) => {
      const proceed = () => {
        if (result) this.#end(result);
        else
          this.#guard(() => {
            this.#introspect(checked);
          });
      };
      if (isLater) measure(request.context.client, proceed);
      else proceed();
      if (refresh) this.#refresh(checked, refresh);
    });
    isLater = true;
  }

  /** Goes on, unless a fault ends the run. */
  #proceed(fault: Fault | undefined, act: () => void): void {
    if (fault) this.#refuse(fault);
    else this.#guard(act);
  }

  /** Coerces the variables and checks the limits that depend on them. Throws METHOD_NOT_ALLOWED, VALIDATION_ERROR. */
  #check(operation: Operation): CheckedOperation {
    const { request, limits } = this.#options;
    const { program, compiled } = operation;
    const { kind, location, sliced, variables: declared } = program;
    const { conditions, cost } = checkOperation({ kind, location, sliced, variables: declared, cost: compiled.cost }, request, limits);
    const variables = addAliases(declared, request.variables);
    this.#caching = toPlannedPolicy(program.caching, conditions);
    if (request.context.upload) checkFiles(program, variables);
    return { operation, variables, conditions, cost };
  }

  #subscribe({ operation, variables, conditions }: CheckedOperation): void {
    const { request, snapshot, registry } = this.#options;
    if (!request.subscriber)
      throw fail(
        'NOT_ACCEPTABLE',
        'Subscriptions need a WebSocket, or `Accept: text/event-stream` or `multipart/mixed;subscriptionSpec=1.0`.',
      );
    // A subscription has one root field (GraphQL §5.2.3): without it there is no source stream.
    const [denial] = operation.program.denials;
    if (!operation.program.source && denial) throw toDenialFault(denial, request.context.caller);
    const { subscriber } = request;
    const subscribe = () => {
      registry.subscribe({ request: { ...request, variables }, snapshot, operation, conditions }, subscriber);
    };
    const { extended } = request.context;
    const { onSubscribe } = this.#options.hooks;
    if (extended && onSubscribe)
      onSubscribe(toOperationEvent(extended, request), (refusal) => {
        this.#proceed(refusal, subscribe);
      });
    else subscribe();
  }

  /** Gets the results of introspection fields, if there are any, and executes. Those that depend on variables come from the planner's thread. */
  #introspect(checked: CheckedOperation): void {
    const { introspection } = checked.operation.program;
    if (!introspection || introspection.fixed) {
      this.#execute(checked, introspection?.fixed ?? NO_INTROSPECTION);
      return;
    }
    const { request, snapshot } = this.#options;
    const { query, operationName, context } = request;
    snapshot.planner.introspect({ query, operationName, labels: [] }, checked.conditions, context.client).then(
      (results) => {
        this.#guard(() => {
          this.#execute(checked, results);
        });
      },
      (error: unknown) => {
        this.#refuse(error);
      },
    );
  }

  #execute(checked: CheckedOperation, introspection: IntrospectionResults): void {
    const { request, snapshot } = this.#options;
    const report = request.reports.plan ? createPlanReport() : undefined;
    this.#span = request.context.trace?.start('GraphQL execute', toOperationAttributes(checked.operation.program));
    const context = this.#span ? { ...request.context, trace: this.#span } : request.context;
    const { hooks } = this.#options;
    const send = createSendFetch(snapshot.upstream, this.#guard, this.#cached ? this.#cached.observe(hooks) : hooks);
    const { plan, cost } = request.reports;
    const { operation, variables, conditions } = checked;
    const executor = context.upload ? OBJECT_EXECUTOR : this.#options.executor;
    const observe = report?.observe;
    const needs = { needsObjects: plan, needsCost: cost };
    executor.execute({ operation, variables, conditions, context, send, observe, ...needs }, (result) => {
      this.#write(result, checked, { introspection, report });
    });
  }

  #write(
    result: Executed | Assembled,
    checked: CheckedOperation,
    { introspection, report }: { introspection: IntrospectionResults; report: PlanReport | undefined },
  ): void {
    const { writing } = this.#options;
    const { request, snapshot } = this.#options;
    const { operation, conditions, cost } = checked;
    const extensions = writeReports(request.reports, { operation, conditions, cost, result, plan: report, hash: snapshot.hash });
    const { bytes, length, errors, isNull }: WrittenResult =
      'assembled' in result
        ? writeAssembled(result, extensions, writing.buffers.maxBytes)
        : writeResult(result, { introspection, extensions }, writing);
    const refused = isNull ? toRefusedResult(null, errors) : undefined;
    this.#finish({
      outcome: isNull ? 'failed' : errors.length > 0 ? 'partial' : 'complete',
      status: refused?.status,
      challenge: refused?.challenge,
      bytes,
      length,
    });
  }

  /** An exception in a callback must end its request, not the process. */
  readonly #guard = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      this.#refuse(error);
    }
  };

  /** Ends the run with the errors of an invalid document, or of one that cannot be planned. */
  #refuseDocument(refused: Extract<Executable, { errors: unknown }>): void {
    const { request, writing } = this.#options;
    const { requestId } = request.context;
    if (refused.reason !== undefined) writing.log.error('cannot plan an operation', { requestId, error: new Error(refused.reason) });
    this.#finish(toDocumentRefusal(refused, requestId));
  }

  /** Ends the run with a fault, before the execution or during it. */
  #refuse(error: unknown): void {
    const { request, writing } = this.#options;
    const { requestId } = request.context;
    const fault = toFault(error);
    const { code } = fault;
    if (code === 'INTERNAL_ERROR') writing.log.error('request failed', { requestId, code, error: fault.cause });
    this.#finish(toRefusalResult(fault, requestId));
  }

  /** Executes a query again, for the cache alone: its client has a stale result already. */
  #refresh(checked: CheckedOperation, pending: PendingResult): void {
    const { request, cache, snapshot } = this.#options;
    if (!cache) return;
    const renewed = { ...request, context: { ...renewContext(request.context), trace: undefined } };
    const run = new OperationRun({ ...this.#options, request: renewed }, (result) => {
      result.release?.();
    });
    run.#operation = checked.operation;
    run.#cached = new CachedRun({ cache, request: renewed, program: checked.operation.program, hash: snapshot.hash, pending });
    run.#guard(() => {
      run.#introspect(checked);
    });
  }

  #end(result: OperationResult): void {
    this.#isDone = true;
    this.#done(result);
  }

  #finish({ outcome, status, challenge, bytes, length }: Ending): void {
    // After a fault the callbacks of fetches in flight still arrive.
    if (this.#isDone) return;
    this.#isDone = true;
    this.#span?.end();
    const program = this.#operation?.program;
    const { buffers } = this.#options.writing;
    const release = buffers.isPooled(bytes)
      ? () => {
          buffers.give(bytes);
        }
      : undefined;
    const facts = { operationKind: program?.kind, operationName: program?.name, caching: this.#caching };
    const result = { outcome, status, challenge, bytes, length, release, ...facts };
    if (this.#cached) this.#cached.end(result, this.#done);
    else this.#done(result);
  }
}
