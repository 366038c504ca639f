/** One operation in the engine `trestle`: plan → coerce → limit → execute or subscribe → write. `pipeline.ts` shows the stages around it. */
import type { Fault } from '@trestle/schema/errors';
import type { Scope } from '@trestle/telemetry';
import { CachedRun } from '../cache/cached-run.ts';
import type { PendingResult } from '../cache/pending-result.ts';
import type { ResponseCache } from '../cache/response-cache.ts';
import { toPlanEvent } from '../extensions/events.ts';
import { mayChangeFetches } from '../extensions/may-change-fetches.ts';
import { toUnits } from '../limits/limits.ts';
import { startExecution } from '../observability/tracing.ts';
import type { Operation } from '../program/operation.ts';
import type { IntrospectionResults } from '../program/program.ts';
import { type CachePolicy, NO_STORE } from '../request/cache-policy.ts';
import type { FetchReport } from '../request/cache-report.ts';
import { renewContext } from '../request/context.ts';
import type { OperationResult } from '../request/operation.ts';
import { withOutcome } from '../request/whole-outcome.ts';
import type { Executable } from '../supergraph/prepared-operations.ts';
import { afterLookup } from './after-lookup.ts';
import { beginSubscription } from './begin-subscription.ts';
import { type CheckedOperation, checkPlanned } from './check-planned.ts';
import { executeWhole } from './execute-whole.ts';
import { findIntrospection } from './find-introspection.ts';
import { isIncremental, runIncremental } from './incremental-run.ts';
import { limitTime } from './limit-time.ts';
import { createOperationSend } from './operation-send.ts';
import { toDocumentEnding, toFaultEnding, toOperationResult } from './run-endings.ts';
import type { RunOptions } from './run-options.ts';
import { type SharedExecution, isShareable } from './shared-executions.ts';
import type { Ending } from './write-executed.ts';

/** Every run ends with one result, except a subscription that its subscriber has begun. */
export class OperationRun {
  #options: RunOptions;
  readonly #done: (result: OperationResult) => void;
  #operation: Operation | undefined;
  #caching: CachePolicy | undefined;
  #cached: CachedRun | undefined;
  #fetched: FetchReport | undefined;
  /** Set when equal queries wait for the result of this run. */
  #shared: SharedExecution | undefined;
  /** The span of the execution, up to the result, or up to the last part of one. */
  #span: Scope | undefined;
  /** Ends the execution at its time limit. */
  #timer: NodeJS.Timeout | undefined;
  #isDone = false;

  constructor(options: RunOptions, done: (result: OperationResult) => void) {
    this.#options = options;
    this.#done = done;
  }

  /** Plans the operation, unless a plan is cached, and runs it. */
  start(): void {
    const { request, snapshot } = this.#options;
    const ready = snapshot.find(request, request.context);
    if (ready) {
      this.#run(ready);
      return;
    }
    const { context } = request;
    const { trace, client } = context;
    const span = trace?.start('GraphQL plan');
    snapshot.prepare(request, { access: snapshot.accessOf(context), client, context }).then(
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
        this.#finish(toDocumentEnding(ready, this.#options));
        return;
      }
      this.#operation = ready.operation;
      const { request, hooks } = this.#options;
      if (request.usage) request.usage.operation = ready.operation.program.usage;
      const checked = checkPlanned(ready.operation, request, this.#options);
      this.#caching = mayChangeFetches(request.context, hooks) ? NO_STORE : checked.caching;
      const { quota, extended } = request.context;
      const { onPlan } = hooks;
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
    const proceed = this.#proceed.bind(this);
    if (checked.operation.program.kind === 'subscription') beginSubscription(checked, { ...this.#options, proceed });
    else if (cache) this.#findCached(cache, checked);
    else this.#share(checked);
  }

  /** Ends a query with the result that the cache has of it, and executes every other operation. */
  #findCached(cache: ResponseCache, checked: CheckedOperation): void {
    const { request, snapshot, measure } = this.#options;
    const { operation } = checked;
    const policy = isIncremental(checked, request) ? undefined : this.#caching;
    const { plan, cost, supergraph } = request.reports;
    const isMutation = operation.program.kind === 'mutation';
    // A report describes an execution, so the result must not come from the cache.
    if (isMutation || (policy && policy.maxAge > 0 && !plan && !cost && !supergraph && cache.keepsResult(operation.program)))
      this.#cached = new CachedRun({ cache, request, program: operation.program, hash: snapshot.hash });
    if (isMutation) this.#share(checked);
    else if (this.#cached && policy) this.#useCached(this.#cached, { checked, policy });
    else {
      const lookUp = (done: () => void) => {
        cache.notice(done);
      };
      afterLookup({ lookUp, measure, client: request.context.client }, () => {
        this.#guard(() => {
          this.#share(checked);
        });
      });
    }
  }

  /** Ends the query with a result that is kept, or executes it. */
  #useCached(cached: CachedRun, { checked, policy }: { readonly checked: CheckedOperation; readonly policy: CachePolicy }): void {
    const { request, limits, measure } = this.#options;
    const { cancellation, client } = request.context;
    const onWait = () => {
      this.#timer = limitTime(cancellation, limits, this.#guard);
    };
    let [found, stale]: [OperationResult?, PendingResult?] = [];
    const lookUp = (done: () => void) => {
      cached.find({ policy, variables: checked.conditions, onWait }, (result, refresh) => {
        [found, stale] = [result, refresh];
        done();
      });
    };
    afterLookup({ lookUp, measure, client }, () => {
      if (found) {
        this.#isDone = true;
        clearTimeout(this.#timer);
        this.#done(found);
        if (stale) this.#refresh(checked, stale);
      } else
        this.#guard(() => {
          this.#introspect(checked);
        });
    });
  }

  /**
   * Waits for the result of an equal query in flight; without one, executes the query, and equal ones that begin meanwhile wait for it. A query that the
   * response cache may keep does not take part, because the cache executes equal queries once itself.
   */
  #share(checked: CheckedOperation): void {
    const { shared, request, measure, hooks, limits } = this.#options;
    const { context } = request;
    if (!shared || this.#cached || !isShareable(checked, request, hooks)) {
      this.#introspect(checked);
      return;
    }
    this.#shared = shared.begin(checked, context, (ending) => {
      measure(context.client, () => {
        this.#guard(() => {
          if (ending) {
            this.#finish(ending);
            return;
          }
          this.#span?.end();
          this.#introspect(checked);
        });
      });
    });
    if (this.#shared) {
      this.#options = { ...this.#options, request: { ...request, context: this.#shared.context } };
      this.#introspect(checked);
      return;
    }
    this.#span = context.trace?.start('GraphQL wait');
    this.#timer = limitTime(context.cancellation, limits, this.#guard);
  }

  /** Gets the results of introspection fields, if there are any, and executes. */
  #introspect(checked: CheckedOperation): void {
    const { request, snapshot } = this.#options;
    const results = findIntrospection(checked, request, snapshot);
    if (!(results instanceof Promise)) {
      this.#execute(checked, results);
      return;
    }
    results.then((found) => {
      this.#guard(() => {
        this.#execute(checked, found);
      });
    }, this.#refuse);
  }

  #execute(checked: CheckedOperation, introspection: IntrospectionResults): void {
    const { request, snapshot, limits } = this.#options;
    const { operation } = checked;
    // A query that waited for an equal one already runs its timer.
    this.#timer ??= limitTime(request.context.cancellation, limits, this.#guard);
    this.#span = startExecution(request.context.trace, operation.program, snapshot.launch);
    const context = this.#span ? { ...request.context, trace: this.#span } : request.context;
    const finish = (ending: Ending) => {
      this.#finish(ending);
    };
    if (isIncremental(checked, request)) {
      // A partial result must not be cached as the whole result.
      this.#caching &&= NO_STORE;
      runIncremental(this.#options, { checked, context, cached: this.#cached, refuse: this.#refuse }, finish);
      return;
    }
    const { send, fetched } = createOperationSend(this.#options, { operation, context, guard: this.#guard, cached: this.#cached });
    this.#fetched = fetched;
    executeWhole(this.#options, { checked, context, send, introspection }, finish);
  }

  /** Goes on, unless a fault ends the run. */
  #proceed(fault: Fault | undefined, act: () => void): void {
    if (fault) this.#refuse(fault);
    else this.#guard(act);
  }

  /** An exception in a callback must end its request, not the process. */
  readonly #guard = (act: () => void): void => {
    try {
      act();
    } catch (error) {
      this.#refuse(error);
    }
  };

  /** Ends the run with a fault, before the execution or during it. */
  readonly #refuse = (error: unknown): void => {
    this.#finish(toFaultEnding(error, this.#options));
  };

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

  #finish(ended: Ending): void {
    // After a fault the callbacks of fetches in flight still arrive.
    if (this.#isDone) return;
    this.#isDone = true;
    const { buffers } = this.#options.writing;
    const ending = this.#shared?.settle(ended, buffers) ?? ended;
    const program = this.#operation?.program;
    const facts = { operationKind: program?.kind, operationName: program?.name, caching: this.#caching, fetched: this.#fetched };
    // Later parts of a response share the time limit and the span with the first.
    const result = withOutcome(toOperationResult(ending, facts, buffers), () => {
      this.#span?.end();
      clearTimeout(this.#timer);
    });
    if (this.#cached) this.#cached.end(result, this.#done);
    else this.#done(result);
  }
}
