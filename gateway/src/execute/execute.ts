/**
 * Executes an operation with objects: the steps of its plan fetch from the subgraphs and merge the results into one tree of objects. It executes
 * every operation; the executor on bytes hands over to it.
 */
import type { Operation } from '../program/operation.ts';
import type { Data, FetchStep } from '../program/program.ts';
import type { FetchDone, SubgraphFailure, SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { type FileMap, findFiles } from '../request/upload.ts';
import { type WrittenBatch, collectInContexts } from './contextual-entities.ts';
import { collectEntities, placesOf } from './entities.ts';
import { ExecutionErrors } from './execution-errors.ts';
import { merge, rename } from './merge.ts';
import type { ReceivedFetches } from './received-fetches.ts';
import { runPlan } from './run-plan.ts';
import { VariableTexts } from './variable-texts.ts';

/** Sends one request to a subgraph and calls back exactly once. */
export type SendFetch = (request: FetchRequest, done: FetchDone) => void;

/** The body of a response, from `start` to `end`, which is lent. */
export interface ResponseBody {
  readonly bytes: Buffer;
  readonly start: number;
  readonly end: number;
}

/** The result of a response that was taken, without its data. */
export type Taken = Pick<SubgraphResult, 'errors'>;

/**
 * Gets the body of a JSON response with status 200, from `start` to `end`, which is lent until it returns. Returns undefined for a response that it has
 * not taken, which is parsed then. Must not throw.
 */
export type TakeBody = (bytes: Buffer, start: number, end: number) => Taken | undefined;

/** A response, as far as caches need it. */
export interface RespondedHeaders {
  readonly status: number;
  /** Returns the value of a header field by its name in lower case. */
  header(name: string): string | undefined;
}

/** What the body of a fetch is made of. */
export interface BodyParts {
  readonly step: FetchStep;
  /** The body up to the representations. */
  readonly head: string;
  /** Those of a fetch of entities, as JSON with commas between. */
  readonly representations: string | undefined;
}

export interface FetchRequest {
  readonly service: string;
  readonly isMutation: boolean;
  /** The whole body, as JSON. */
  readonly body: string;
  /** Undefined for a fetch whose result is not kept. */
  readonly bodyParts?: BodyParts | undefined;
  readonly context: RequestContext;
  /** The files that the variables of this fetch stand for; undefined when there are none. */
  readonly files?: FileMap | undefined;
  readonly take?: TakeBody | undefined;
  /**
   * Called for each response, which is lent until it returns, and with the `Cache-Control` that header rules return to clients for it, if any does. Must
   * not throw.
   */
  readonly onResponse?: ((response: RespondedHeaders, returned?: string) => void) | undefined;
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
  /** Starts the fetches of a deferred part, for plans that name such parts. */
  readonly begin?: ((part: number) => void) | undefined;
  /** Fetches that were sent already. */
  readonly received?: ReceivedFetches | undefined;
}

/** An operation whose fetches have ended. */
export interface Executed extends ExecutionRequest {
  readonly data: Data;
  readonly errors: ExecutionErrors;
}

/** The body of a fetch; the representations in it for a fetch of entities. */
interface FetchBody {
  /** The body up to the representations; undefined for a fetch whose result is not kept. */
  readonly head?: string;
  readonly body: string;
  readonly representations?: string;
}

/** Executes the whole plan and calls back once, with or without errors. */
export function execute(request: ExecutionRequest, done: (executed: Executed) => void): void {
  new Execution(request).start(done);
}

/** Executes the remaining plan of a subscription for one event of its source stream (GraphQL §6.2.3.2). */
export function executeEventPlan(request: ExecutionRequest, event: SubgraphResult, done: (executed: Executed) => void): void {
  const execution = new Execution(request);
  execution.addEvent(event);
  execution.start(done);
}

/** What deferred parts of one operation share; each has errors of its own. */
export interface DeferredState extends Pick<Executed, 'data' | 'errors'> {
  /** The names of interfaces. */
  readonly interfaces: readonly string[];
}

const UNSAFE_ID_FAILURE: SubgraphFailure = {
  code: 'UPSTREAM_ERROR',
  message: 'A subgraph sent an ID as a number that is not exact in JSON. It must send IDs as strings.',
  cause: undefined,
};

/** The state of one execution, which only its own steps change, and those of other parts of the operation. */
export class Execution {
  readonly #request: ExecutionRequest;
  readonly #data: Data;
  readonly #errors: ExecutionErrors;
  readonly #interfaces: readonly string[] | undefined;
  /** Callbacks that wait for a fetch in flight, by service and body. */
  #waiting: Map<string, FetchDone[]> | undefined;
  readonly #variables: VariableTexts;

  constructor(request: ExecutionRequest, shared?: DeferredState) {
    this.#request = request;
    this.#data = shared?.data ?? {};
    this.#interfaces = shared?.interfaces;
    this.#variables = new VariableTexts(request.variables);
    this.#errors = shared?.errors ?? new ExecutionErrors(request.operation.program);
  }

  start(done: (executed: Executed) => void): void {
    const request = this.#request;
    const { plan } = request.operation.program;
    const finish = () => {
      done({ ...request, data: this.#data, errors: this.#errors });
    };
    const fetch = (step: FetchStep, next: () => void) => {
      if (step.entities) this.#fetchEntities(step, next);
      else this.#fetch(step, next);
    };
    if (plan) runPlan(plan, { conditions: request.conditions, fetch, begin: request.begin }, finish);
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

  #fetchEntities(step: FetchStep, done: () => void): void {
    const { operation, conditions } = this.#request;
    const source = { compiled: operation.compiled, data: this.#data, conditions, interfaces: this.#interfaces };
    const variables = this.#variables.write(step.variables);
    if (step.contexts) {
      const batches = collectInContexts(step, source, variables);
      let open = batches.length;
      if (open === 0) done();
      for (const batch of batches)
        this.#fetchBatch(step, batch, () => {
          if (--open === 0) done();
        });
      return;
    }
    const batch = collectEntities(step, source);
    const { representations, hasUnsafeIds } = batch;
    if (hasUnsafeIds) this.#addFailure(step, UNSAFE_ID_FAILURE);
    const head = `${step.prefix}${variables}${variables && ','}`;
    const body = `${head}"representations":[${representations}]}}`;
    if (representations === '') done();
    else this.#fetchBatch(step, { ...batch, head, body }, done);
  }

  #fetchBatch(step: FetchStep, batch: WrittenBatch & Pick<FetchBody, 'head'>, done: () => void): void {
    const data = this.#data;
    this.#send(step, batch, (result) => {
      if (result?.errors)
        this.#errors.addReported(batch.toEntityErrors?.(result.errors) ?? result.errors, {
          step,
          placesOf: (i) => batch.placesOf(i, data),
          isWhole: !result.data,
        });
      const fault = result?.data ? batch.merge(result.data) : undefined;
      if (fault !== undefined) this.#addFailure(step, { code: 'UPSTREAM_ERROR', message: fault, cause: undefined });
      done();
    });
  }

  #fetch(step: FetchStep, done: () => void): void {
    const found: Data[] = [];
    if (step.collectors.length === 0) found.push(this.#data);
    for (const each of step.collectors) this.#request.operation.compiled.collect[each]?.(this.#data, found, undefined, []);
    if (found.length === 0) {
      done();
      return;
    }
    const body = `${step.prefix}${this.#variables.write(step.variables)}}}`;
    this.#send(step, { head: body, body }, (result) => {
      if (result?.errors) {
        // A type of root fields that is reached in a list: all of its objects have the error.
        const objects = step.path.length > 0 ? () => step.places.flatMap((place) => placesOf(place, this.#data)) : undefined;
        this.#errors.addReported(result.errors, { step, objects, isWhole: !result.data });
      }
      if (result?.data) {
        for (const each of step.rewrites) rename(result.data, each);
        for (const each of found) merge(each, result.data, this.#interfaces);
      }
      done();
    });
  }

  /** Sends a fetch unless the same one is in flight. A failure becomes an error of the result. */
  #send(step: FetchStep, { body, head = body, representations }: FetchBody, done: (result: SubgraphResult | undefined) => void): void {
    const { context, observe, send, received } = this.#request;
    const isMutation = step.operationKind === 'mutation';
    const settle = (failure: SubgraphFailure | null, result: SubgraphResult) => {
      observe?.(step, 'received');
      if (failure) this.#addFailure(step, failure);
      done(failure ? undefined : result);
    };
    const sent = received?.find(step, representations);
    if (sent) {
      sent.take(settle);
      return;
    }
    observe?.(step, 'sent');
    const files = context.upload && findFiles(this.#request.variables, step.variables);
    const bodyParts = step.caching && { step, head, representations };
    const request = { service: step.service, isMutation, body, bodyParts, context, files };
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
