/**
 * Executes one operation on the bytes of responses. Whatever differs from what was requested hands over to the object executor, with the responses
 * that have arrived and those that will: nothing is requested twice.
 */
import type { Data, FetchStep, PlanStep } from '../../program/program.ts';
import type { ResultError, SubgraphFailure, SubgraphResult } from '../../program/result.ts';
import type { BufferPool } from '../buffer-pool.ts';
import type { ResponseBody, Taken } from '../execute.ts';
import type { Assembled, ExecutorRequest } from '../executor.ts';
import { ReceivedFetch, ReceivedFetches } from '../received-fetches.ts';
import { runPlan } from '../run-plan.ts';
import { VariableTexts } from '../variable-texts.ts';
import { type Arena, OutOfMemory } from './arena.ts';
import { MissingFields, assembleInto } from './assemble.ts';
import type { BytesOperation } from './bytes-operation.ts';
import { dropRepeatedKeys, isAsRepresented } from './check-entities.ts';
import type { FetchState } from './fetch-state.ts';
import { addKnownTypes } from './known-types.ts';
import { Marks, type ReportedErrors } from './marks.ts';
import { TooManyCollisions, writeRepresentations } from './representations.ts';
import { settleErrors } from './result-errors.ts';
import { walkResponse } from './walk-response.ts';

/** Why an execution is handed over. */
export type HandOverReason = 'errors' | 'failure' | 'difference' | 'memory' | 'condition' | 'size' | 'fault';

const NO_ERRORS: readonly ResultError[] = [];
const TAKEN: Taken = {};

export interface BytesExecutionOptions {
  readonly request: ExecutorRequest;
  readonly operation: BytesOperation;
  /** It is released when the execution ends, in whichever way. */
  readonly arena: Arena;
  readonly buffers: BufferPool;
}

/** One of these is called, once. */
export interface ExecutionEnd {
  readonly onAssembled: (result: Assembled) => void;
  /** The object executor must continue with what was received. */
  readonly onHandOver: (reason: HandOverReason, received: ReceivedFetches) => void;
}

/** A fetch that was sent. */
interface SentFetch {
  readonly step: FetchStep;
  readonly fetch: ReceivedFetch;
  readonly done: () => void;
  readonly count: number;
}

export class BytesExecution {
  readonly #request: ExecutorRequest;
  readonly #operation: BytesOperation;
  readonly #arena: Arena;
  readonly #buffers: BufferPool;
  readonly #end: ExecutionEnd;
  readonly #states: (FetchState | undefined)[];
  readonly #sent: SentFetch[] = [];
  /** The errors of the responses that were taken. */
  readonly #reports: ReportedErrors[] = [];
  readonly #variables: VariableTexts;
  readonly #conditions: number;
  /** Undefined when the actual cost is not needed. */
  readonly #argumentCosts: readonly number[] | undefined;
  /** Why a response was not taken; undefined when it differed. */
  #refusal: HandOverReason | undefined;
  #isOver = false;

  constructor({ request, operation, arena, buffers }: BytesExecutionOptions, end: ExecutionEnd) {
    this.#request = request;
    this.#operation = operation;
    this.#arena = arena;
    this.#buffers = buffers;
    this.#end = end;
    this.#states = new Array<FetchState | undefined>(operation.program.fetches.length).fill(undefined);
    this.#variables = new VariableTexts(request.variables);
    this.#conditions = operation.conditionsOf(request.conditions);
    this.#argumentCosts = request.needsCost ? operation.argumentCosts(request.conditions) : undefined;
  }

  start(plan: PlanStep): void {
    const { constants } = this.#operation;
    if (constants.length > 0) this.#arena.copyIn(constants, 0, constants.length);
    const fetch = (step: FetchStep, done: () => void) => {
      if (!this.#isOver) this.#fetch(step, done);
    };
    runPlan(plan, { conditions: this.#request.conditions, fetch }, () => {
      this.#complete();
    });
  }

  #complete(): void {
    if (this.#isOver) return;
    const result = this.#assemble();
    if (typeof result === 'string') {
      this.#handOver(result);
      return;
    }
    this.#isOver = true;
    this.#arena.release();
    this.#end.onAssembled(result);
  }

  /** Returns the result, or why it cannot be assembled. */
  #assemble(): Assembled | HandOverReason {
    const { context } = this.#request;
    const span = context.trace?.start('GraphQL write');
    try {
      const needsCost = this.#argumentCosts !== undefined;
      const marks = this.#createMarks();
      const source = { arena: this.#arena, operation: this.#operation, states: this.#states, needsCost, marks };
      const result = assembleInto(this.#buffers, source);
      if (!result) return 'size';
      this.#operation.noteSuccess(this.#arena.sizeClass, result.assembled.length);
      const { assembled, cost } = result;
      if (!marks) return { assembled, cost, errors: NO_ERRORS };
      return { cost, ...settleErrors(assembled, { marks, reports: this.#reports, program: this.#request.operation.program }) };
    } catch (error) {
      return error instanceof MissingFields ? (this.#hasErrors() ? 'errors' : 'condition') : 'fault';
    } finally {
      span?.end();
    }
  }

  #hasErrors(): boolean {
    return this.#reports.length > 0 || this.#states.some((state) => state?.hasNulls === true);
  }

  /** Returns undefined when there are no errors and no object is missing. */
  #createMarks(): Marks | undefined {
    return this.#hasErrors() ? new Marks({ reports: this.#reports, conditions: this.#request.conditions }) : undefined;
  }

  #fetch(step: FetchStep, done: () => void): void {
    const { prefix } = this.#operation.program.fetches[step.index] as { prefix: string };
    const variables = this.#variables.write(step.variables);
    if (!step.entities) {
      const body = `${prefix}${variables}}}`;
      this.#send({ step, fetch: new ReceivedFetch(undefined), done, count: 1 }, body, body);
      return;
    }
    const written = this.#writeRepresentations(step.index);
    if (!written) return;
    const { count, text } = written;
    if (count === 0) done();
    else {
      const head = `${prefix}${variables}${variables && ','}`;
      this.#send({ step, fetch: new ReceivedFetch(text), done, count }, head, `${head}"representations":[${text}]}}`);
    }
  }

  /** Returns undefined when the execution was handed over. */
  #writeRepresentations(fetch: number): { count: number; text: string } | undefined {
    const arena = this.#arena;
    const start = arena.top;
    try {
      const count = writeRepresentations({ arena, operation: this.#operation, states: this.#states }, fetch);
      const text = arena.bytes.toString('utf8', start, arena.top);
      return { count, text };
    } catch (error) {
      this.#handOver(error instanceof OutOfMemory ? 'memory' : error instanceof TooManyCollisions ? 'difference' : 'fault');
      return undefined;
    } finally {
      // The request is a string: the room is free for the response.
      arena.top = start;
    }
  }

  #send(sent: SentFetch, head: string, body: string): void {
    const { step, done } = sent;
    const { context, send } = this.#request;
    this.#sent.push(sent);
    let isTaken = false;
    const take = (bytes: Buffer, start: number, end: number) => {
      const result = this.#take(sent, { bytes, start, end });
      isTaken = result !== undefined;
      return result;
    };
    const bodyParts = step.caching && { step, head, representations: sent.fetch.representations };
    send({ service: step.service, isMutation: step.operationKind === 'mutation', body, bodyParts, context, take }, (failure, result) => {
      if (isTaken) {
        if (!this.#isOver) done();
        return;
      }
      this.#settle(sent, failure, result);
      if (!this.#isOver) this.#handOver(failure ? 'failure' : result.errors ? 'errors' : (this.#refusal ?? 'difference'));
    });
  }

  /** Walks a response. Returns undefined for one that the object executor has to read. Must not throw: the connection calls it. */
  #take({ step, count }: SentFetch, body: ResponseBody): Taken | undefined {
    if (this.#isOver) return undefined;
    try {
      const { index } = step;
      const [arena, operation] = [this.#arena, this.#operation];
      const context = { arena, operation, conditions: this.#conditions, argumentCosts: this.#argumentCosts };
      const state = walkResponse(context, { index, count, body });
      // Names each property: a spread here costs 2 µs, more than the walk.
      if (!state || !isAsRepresented({ arena, operation, states: this.#states, index, state })) return undefined;
      const { errors, hasNulls, isWithoutData: isWhole } = state;
      // The object is null where this fetch decides whether it exists.
      if (hasNulls && step.entities && step.entities.decides.length > 0) return undefined;
      this.#states[index] = state;
      if (errors.length === 0) return TAKEN;
      this.#reports.push({ step, errors, isWhole });
      return { errors };
    } catch (error) {
      this.#refusal = error instanceof OutOfMemory ? 'memory' : 'fault';
      return undefined;
    }
  }

  /** Makes a result of what a fetch that the object executor has to read has returned. */
  #settle({ step, fetch }: SentFetch, failure: SubgraphFailure | null, result: SubgraphResult): void {
    if (result.data) {
      const { knownTypes = [], repeatedKeys = [] } = this.#operation.program.fetches[step.index] ?? {};
      dropRepeatedKeys(result.data, repeatedKeys);
      addKnownTypes(result.data, knownTypes);
    }
    fetch.settle(failure, result);
  }

  #handOver(reason: HandOverReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const received = new ReceivedFetches();
    try {
      for (const sent of this.#sent) {
        const state = this.#states[sent.step.index];
        if (state) this.#settle(sent, null, this.#parse(state));
        received.add(sent.step, sent.fetch);
      }
    } finally {
      this.#arena.release();
    }
    this.#end.onHandOver(reason, received);
  }

  #parse({ start, end, isWithoutData, errors }: FetchState): SubgraphResult {
    const data = isWithoutData ? null : (JSON.parse(this.#arena.bytes.toString('utf8', start, end)) as Data);
    return errors.length > 0 ? { data, errors } : { data };
  }
}
