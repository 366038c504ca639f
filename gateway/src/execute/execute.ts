/**
 * Executes an operation: the steps of its plan fetch from the subgraphs and merge the results into one tree of objects. The steps use
 * callbacks instead of promises, which would add a turn of the microtask queue to every step of the hot path.
 */
import type { Operation } from '../program/operation.ts';
import type { Data, FetchStep, PlanStep } from '../program/program.ts';
import type { FetchDone, SubgraphFailure, SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { collectEntities } from './entities.ts';
import { ExecutionErrors } from './execution-errors.ts';
import { merge, rename } from './merge.ts';

/** Sends one request to a subgraph and calls back exactly once. */
export type SendFetch = (request: FetchRequest, done: FetchDone) => void;

export interface FetchRequest {
  readonly service: string;
  readonly isMutation: boolean;
  /** The whole body, as JSON. */
  readonly body: string;
  readonly context: RequestContext;
}

export interface ExecutionRequest {
  readonly operation: Operation;
  /** As the client sent them, and those that fetches know by another name. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** The same with the operation's defaults, for conditions and costs. */
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
  readonly send: SendFetch;
  /** Called before and after each fetch, for plan reports. */
  readonly observe?: ((step: FetchStep, event: 'sent' | 'received') => void) | undefined;
}

/** An operation whose fetches have ended. */
export interface Executed extends ExecutionRequest {
  readonly data: Data;
  readonly errors: ExecutionErrors;
}

/** Executes the whole plan and calls back once, with or without errors. */
export function execute(request: ExecutionRequest, done: (executed: Executed) => void): void {
  new Execution(request).start(done);
}

/** Executes the remaining plan of a subscription for one event of its source stream (GraphQL §6.2.3.2). */
export function executeEvent(request: ExecutionRequest, event: SubgraphResult, done: (executed: Executed) => void): void {
  const execution = new Execution(request);
  execution.addEvent(event);
  execution.start(done);
}

/** The state of one execution, which only its own steps change. */
class Execution {
  readonly #request: ExecutionRequest;
  readonly #data: Data = {};
  readonly #errors: ExecutionErrors;
  /** Callbacks that wait for a fetch in flight, by service and body. */
  #waiting: Map<string, FetchDone[]> | undefined;
  /** Variables as JSON: each is written once for all fetches. */
  #variableTexts: Map<string, string | undefined> | undefined;

  constructor(request: ExecutionRequest) {
    this.#request = request;
    this.#errors = new ExecutionErrors(request.operation.program.shape);
  }

  start(done: (executed: Executed) => void): void {
    const request = this.#request;
    const { plan } = request.operation.program;
    const finish = () => {
      done({ ...request, data: this.#data, errors: this.#errors });
    };
    if (plan) this.#run(plan, finish);
    else finish();
  }

  /** Adds an event as the result of the fetch that the plan begins with. */
  addEvent(event: SubgraphResult): void {
    const step = this.#request.operation.program.source;
    if (!step) return;
    if (Array.isArray(event.errors)) this.#errors.addReported(event.errors, { step, isWhole: !event.data });
    if (!event.data) return;
    for (const each of step.rewrites) rename(event.data, each);
    merge(this.#data, event.data);
  }

  #run(step: PlanStep, done: () => void): void {
    switch (step.kind) {
      case 'fetch':
        if (step.entities) this.#fetchEntities(step, done);
        else this.#fetch(step, done);
        return;
      case 'sequence':
        this.#runSequence(step.steps, 0, done);
        return;
      case 'parallel':
        this.#runParallel(step.steps, done);
        return;
      case 'condition': {
        const next = this.#request.conditions[step.variable] === true ? step.then : step.otherwise;
        if (next) this.#run(next, done);
        else done();
      }
    }
  }

  #runParallel(steps: readonly PlanStep[], done: () => void): void {
    let open = steps.length;
    if (open === 0) done();
    const settle = () => {
      if (--open === 0) done();
    };
    for (const each of steps) this.#run(each, settle);
  }

  #runSequence(steps: readonly PlanStep[], at: number, done: () => void): void {
    const step = steps[at];
    if (!step) done();
    else if (at === steps.length - 1) this.#run(step, done);
    else
      this.#run(step, () => {
        this.#runSequence(steps, at + 1, done);
      });
  }

  #fetchEntities(step: FetchStep, done: () => void): void {
    const data = this.#data;
    const { operation, conditions } = this.#request;
    const batch = collectEntities(step, { compiled: operation.compiled, data, conditions });
    if (batch.representations === '') {
      done();
      return;
    }
    const variables = this.#writeVariables(step);
    const body = `${step.prefix}${variables}${variables && ','}"representations":[${batch.representations}]}}`;
    this.#send(step, body, (result) => {
      if (result?.errors)
        this.#errors.addReported(result.errors, { step, placesOf: (i) => batch.placesOf(i, data), isWhole: !result.data });
      const fault = result?.data ? batch.merge(result.data) : undefined;
      if (fault !== undefined) this.#addFailure(step, { code: 'UPSTREAM_ERROR', message: fault, cause: undefined });
      done();
    });
  }

  #fetch(step: FetchStep, done: () => void): void {
    const found: Data[] = [];
    if (step.collect === undefined) found.push(this.#data);
    else this.#request.operation.compiled.collect[step.collect]?.(this.#data, found, undefined, []);
    if (found.length === 0) {
      done();
      return;
    }
    this.#send(step, `${step.prefix}${this.#writeVariables(step)}}}`, (result) => {
      if (result?.errors) this.#errors.addReported(result.errors, { step, isWhole: !result.data });
      if (result?.data) {
        for (const each of step.rewrites) rename(result.data, each);
        for (const each of found) merge(each, result.data);
      }
      done();
    });
  }

  /** Returns the variables that a fetch uses, as members of a JSON object. */
  #writeVariables({ variables }: FetchStep): string {
    const values = this.#request.variables;
    let text = '';
    for (const name of variables) {
      const texts = (this.#variableTexts ??= new Map<string, string | undefined>());
      let value = texts.get(name);
      if (value === undefined && Object.hasOwn(values, name)) {
        value = JSON.stringify(values[name]);
        texts.set(name, value);
      }
      if (value !== undefined) text += `${text && ','}${JSON.stringify(name)}:${value}`;
    }
    return text;
  }

  /** Sends a fetch unless the same one is in flight. A failure becomes an error of the result. */
  #send(step: FetchStep, body: string, done: (result: SubgraphResult | undefined) => void): void {
    const { context, observe, send } = this.#request;
    const isMutation = step.operationKind === 'mutation';
    const settle = (failure: SubgraphFailure | null, result: SubgraphResult) => {
      observe?.(step, 'received');
      if (failure) this.#addFailure(step, failure);
      done(failure ? undefined : result);
    };
    observe?.(step, 'sent');
    const request = { service: step.service, isMutation, body, context };
    if (!step.isRepeated || isMutation) send(request, settle);
    else this.#sendOnce(request, settle);
  }

  /** Sends a fetch that the plan may repeat: callers with the same request share the result of the one in flight. */
  #sendOnce(request: FetchRequest, settle: FetchDone): void {
    const key = `${request.service}\n${request.body}`;
    const waiting = (this.#waiting ??= new Map<string, FetchDone[]>());
    const inFlight = waiting.get(key);
    if (inFlight) {
      // A copy, since later fetches change the objects of each place in their own way.
      inFlight.push((failure, result) => {
        settle(failure, structuredClone(result));
      });
      return;
    }
    const others: FetchDone[] = [];
    waiting.set(key, others);
    this.#request.send(request, (failure, result) => {
      waiting.delete(key);
      for (const other of others) other(failure, result);
      settle(failure, result);
    });
  }

  #addFailure(step: FetchStep, { code, message, cause }: SubgraphFailure): void {
    this.#errors.addFailure(step, { message, extensions: { code, service: step.service }, cause });
  }
}
