/**
 * Runs an operation: its plan's steps fetch from the subgraphs into one tree of objects, then the generated writer writes the answer from it.
 * Steps call back instead of promising: nothing waits that need not.
 */
import type { ErrorCode } from '@trestle/schema/errors';
import type { EngineContext } from '../engines/engine.ts';
import { entitiesOf } from './entities.ts';
import type { ExecutionErrors, SubgraphError } from './execution-errors.ts';
import { merge, rename } from './merge.ts';
import type { Operation } from '../program/operation.ts';
import type { Data, FetchStep, PlanStep } from '../program/program.ts';

export interface SubgraphAnswer {
  readonly data?: Data | null;
  readonly errors?: readonly SubgraphError[];
}

export interface SubgraphFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly cause: unknown;
}

/** Sends one request to a subgraph and calls back exactly once. */
export type SendFetch = (request: FetchRequest, done: FetchDone) => void;
export type FetchDone = (failure: SubgraphFailure | null, answer: SubgraphAnswer) => void;

export interface FetchRequest {
  readonly service: string;
  readonly isMutation: boolean;
  readonly body: string;
  readonly context: EngineContext;
}

export interface Execution {
  readonly operation: Operation;
  /** As the client sent them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** With the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly context: EngineContext;
  readonly send: SendFetch;
  readonly data: Data;
  readonly errors: ExecutionErrors;
  /** Who else waits for the same fetch, by service and body; made when there is one that may. */
  pending?: Map<string, FetchDone[]> | undefined;
  /** JSON texts of variables that were needed before. */
  texts?: Map<string, string | undefined> | undefined;
  /** Called before and after each fetch, for whoever wants to see the plan run. */
  readonly observe?: ((step: FetchStep, event: 'sent' | 'answered') => void) | undefined;
}

/** Runs the whole plan, or what is left of it for an event; `done` is called once, errors or not. */
export function execute(execution: Execution, done: () => void): void {
  const { plan } = execution.operation.program;
  if (plan) run(plan, execution, done);
  else done();
}

/** Takes what the source of a subscription has told, as the fetch that the plan begins with. */
export function takeEvent(running: Execution, answer: SubgraphAnswer): void {
  const step = running.operation.program.source;
  if (!step) return;
  if (Array.isArray(answer.errors)) running.errors.addAnswered(answer.errors, { step, isWhole: !answer.data });
  if (answer.data) {
    for (const each of step.rewrites) rename(answer.data, each);
    merge(running.data, answer.data);
  }
}

function run(step: PlanStep, running: Execution, done: () => void): void {
  switch (step.kind) {
    case 'fetch':
      fetch(step, running, done);
      return;
    case 'sequence':
      runAll(step.steps, { running, at: 0 }, done);
      return;
    case 'parallel': {
      let open = step.steps.length;
      const one = () => {
        if (--open === 0) done();
      };
      if (open === 0) done();
      for (const each of step.steps) run(each, running, one);
      return;
    }
    case 'condition': {
      const next = running.conditions[step.variable] === true ? step.then : step.otherwise;
      if (next) run(next, running, done);
      else done();
    }
  }
}

function runAll(steps: readonly PlanStep[], { running, at }: { running: Execution; at: number }, done: () => void): void {
  const step = steps[at];
  if (!step) done();
  else if (at === steps.length - 1) run(step, running, done);
  else
    run(step, running, () => {
      runAll(steps, { running, at: at + 1 }, done);
    });
}

function fetch(step: FetchStep, running: Execution, done: () => void): void {
  const { operation, data, conditions } = running;
  const { compiled } = operation;
  if (step.entities) {
    const batch = entitiesOf(step, { compiled, data, conditions });
    if (batch.representations === '') {
      done();
      return;
    }
    const variables = writeVariables(step, running);
    const body = `${step.prefix}${variables}${variables && ','}"representations":[${batch.representations}]}}`;
    send(step, { running, body }, (answer) => {
      if (answer?.errors)
        running.errors.addAnswered(answer.errors, { step, placesOf: (i) => batch.placesOf(i, data), isWhole: !answer.data });
      const fault = answer?.data ? batch.merge(answer.data) : undefined;
      if (fault !== undefined) addFailure(step, { running, failure: { code: 'UPSTREAM_ERROR', message: fault, cause: undefined } });
      done();
    });
    return;
  }
  const found: Data[] = [];
  if (step.collect === undefined) found.push(data);
  else compiled.collect[step.collect]?.(data, found, undefined, []);
  if (found.length === 0) {
    done();
    return;
  }
  send(step, { running, body: `${step.prefix}${writeVariables(step, running)}}}` }, (answer) => {
    if (answer?.errors) running.errors.addAnswered(answer.errors, { step, isWhole: !answer.data });
    if (answer?.data) {
      for (const each of step.rewrites) rename(answer.data, each);
      for (const each of found) merge(each, answer.data);
    }
    done();
  });
}

/** The variables that a fetch uses, as JSON members; each value is written once for all fetches of a request. */
function writeVariables({ variables }: FetchStep, running: Execution): string {
  let text = '';
  for (const name of variables) {
    running.texts ??= new Map();
    let value = running.texts.get(name);
    if (value === undefined && Object.hasOwn(running.variables, name)) {
      value = JSON.stringify(running.variables[name]);
      running.texts.set(name, value);
    }
    if (value !== undefined) text += `${text && ','}${JSON.stringify(name)}:${value}`;
  }
  return text;
}

/** Sends what is not on its way already; a failure becomes an error of the answer. */
function send(
  step: FetchStep,
  { running, body }: { running: Execution; body: string },
  done: (answer: SubgraphAnswer | undefined) => void,
): void {
  const { context, observe } = running;
  const isMutation = step.operationKind === 'mutation';
  const settle = (failure: SubgraphFailure | null, answer: SubgraphAnswer) => {
    observe?.(step, 'answered');
    if (failure) addFailure(step, { running, failure });
    done(failure ? undefined : answer);
  };
  observe?.(step, 'sent');
  if (!step.isRepeated || isMutation) {
    running.send({ service: step.service, isMutation, body, context }, settle);
    return;
  }
  const key = `${step.service}\n${body}`;
  running.pending ??= new Map();
  const waiting = running.pending.get(key);
  if (waiting) {
    // Its objects would end in two places of one tree, where later fetches differ: each gets its own.
    waiting.push((failure, answer) => {
      settle(failure, structuredClone(answer));
    });
    return;
  }
  const others: FetchDone[] = [];
  running.pending.set(key, others);
  running.send({ service: step.service, isMutation, body, context }, (failure, answer) => {
    running.pending?.delete(key);
    for (const other of others) other(failure, answer);
    settle(failure, answer);
  });
}

function addFailure(
  step: FetchStep,
  { running, failure: { code, message, cause } }: { running: Execution; failure: SubgraphFailure },
): void {
  running.errors.addFailure(step, { message, extensions: { code, service: step.service }, cause });
}
